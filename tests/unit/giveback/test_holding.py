import gc

from lowwater.giveback.holding import held_by_nobody_else, reached_from


class Thing:
    """Something with attributes, that can be in a cycle."""

    def __init__(self, **parts):
        self.__dict__.update(parts)


def free_of(variables, cells=()):
    gc.collect()
    return held_by_nobody_else(variables, cells)


def test_value_of_a_variable_is_free_without_it():
    def main():
        variables = {"model": Thing(layer=Thing())}
        # A frame has its own reference to each of them.
        slot = variables["model"]
        free = free_of(variables)
        return id(slot) in free, id(slot.layer) in free

    assert main() == (True, True)


def test_cycle_is_free_as_a_whole():
    def main():
        model = Thing()
        model.history = Thing(model=model)
        variables = {"model": model, "history": model.history}
        history = model.history
        free = free_of(variables)
        return id(model) in free, id(history) in free

    assert main() == (True, True)


def test_what_a_list_elsewhere_holds_is_not_free():
    kept = []

    def main():
        model = Thing(layer=Thing())
        kept.append(model)
        free = free_of({"model": model})
        return id(model) in free, id(model.layer) in free

    assert main() == (False, False)


def test_part_that_is_held_elsewhere_holds_its_owner_if_it_refers_to_it():
    kept = []

    def main():
        model = Thing()
        model.optimizer = Thing(model=model)
        model.plain = Thing()
        kept.append(model.optimizer)
        return id(model) in free_of({"model": model})

    assert main() is False


def test_part_that_is_held_elsewhere_leaves_its_owner_free():
    kept = []

    def main():
        model = Thing(weights=Thing())
        kept.append(model.weights)
        free = free_of({"model": model})
        return id(model) in free, id(model.weights) in free

    assert main() == (True, False)


def test_second_variable_that_is_not_of_the_block_holds_it():
    def main():
        model = best = Thing()
        free = free_of({"model": model})
        return id(best) in free

    assert main() is False


def test_variable_that_an_inner_function_shares_is_free():
    def main():
        model = Thing()

        def step():
            return model

        return id(model) in free_of({"model": model, "step": step}, ("model",))

    assert main() is True


def test_shared_variable_of_a_function_that_lives_on_is_held():
    kept = []

    def main():
        model = Thing()
        kept.append(lambda: model)
        return id(model) in free_of({"model": model}, ("model",))

    assert main() is False


def test_functions_do_not_lead_to_their_modules():
    def inner():
        return None

    assert len(reached_from([inner])) < 100


def test_shared_variable_with_cells_of_its_own_is_free():
    def main():
        model = Thing()

        def wrap(this):
            return lambda: this

        def step():
            return model

        # Keras wraps methods of a model in closures over the model.
        model.build = wrap(model)
        return id(model) in free_of({"model": model, "step": step}, ("model",))

    assert main() is True


def test_value_that_another_frame_shares_too_is_held():
    def outer():
        model = Thing()

        def inner():
            return model

        def main(mine):
            def step():
                return mine

            return id(mine) in free_of({"mine": mine, "step": step}, ("mine",))

        return main(model), inner

    assert outer()[0] is False
