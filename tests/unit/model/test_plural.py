import pytest

from lowwater.model import Unit
from lowwater.model.plural import plural
from lowwater.verdict import words


@pytest.mark.parametrize(
    ("name", "many"),
    [
        *(("epoch", "epochs"), ("batch", "batches"), ("story", "stories"), ("day", "days")),
        *(("fit call", "fit calls"), ("pass", "passes"), ("data set", "data sets")),
    ],
)
def test_names_have_their_plural(name, many):
    assert plural(name) == many


def test_verdicts_use_it_for_a_name_that_the_user_invented():
    assert words.counted(12, Unit(1, "batch")) == "12 batches"
