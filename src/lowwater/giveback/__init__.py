"""Gives memory back: the ladder behind `lowwater.release()`, `lifecycle` and `sessions()`.

It is not called `release`: importing a package makes it an attribute of `lowwater`, where the
function of that name has to be.
"""
