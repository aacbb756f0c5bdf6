import pytest

from reprior.contracts import InputError
from reprior.likelihoods import gaussian
from reprior.models.catalogue import MODELS, model
from reprior.networks import MLP

NET = MLP((3, 4, 2))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_found_under_the_name_it_gives_itself(name):
    assert model(name, NET, gaussian.from_outputs).name == name


def test_an_unknown_name_gets_the_nearest_known_one():
    with pytest.raises(InputError, match=r"'deep_ensmble'.*'deep_ensemble'"):
        model("deep_ensmble", NET, gaussian.from_outputs)


def test_a_name_like_no_other_gets_all_that_are_known():
    with pytest.raises(InputError) as caught:
        model("zzz", NET, gaussian.from_outputs)
    assert all(name in str(caught.value) for name in MODELS)
