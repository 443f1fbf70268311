import inspect

import robust_recourse
from robust_recourse.methods.base import RecourseMethod
from robust_recourse.methods.registry import METHODS


def test_every_method_of_the_library_is_registered_once():
    public = [getattr(robust_recourse, name) for name in robust_recourse.__all__]
    methods = [cls for cls in public if inspect.isclass(cls) and issubclass(cls, RecourseMethod)]
    assert sorted(METHODS.values(), key=repr) == sorted(methods, key=repr)
