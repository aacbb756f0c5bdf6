import math

import pytest
import torch

from reprior.augment.generator_loss import GeneratorTerms, generator_terms, ones_radius
from reprior.likelihoods import Gaussian, TemperedCategorical


def unit(*shape):
    return Gaussian(torch.zeros(shape), torch.ones(shape))


def line(*values):
    return torch.tensor(values)[:, None]


def test_distance_is_the_mean_over_the_k_nearest():
    x = line(0.0, 1.0, 3.0)
    terms = generator_terms(unit(3), unit(3, 1), torch.zeros(3, 1), x, torch.tensor(2), None)
    assert float(terms.distance) == pytest.approx((0 + 1) / 2)


def test_only_what_lies_beyond_the_radius_counts_pair_by_pair():
    x, x_tilde = line(0.0, 1.0, 3.0), line(0.0, 4.0, -2.0)
    terms = generator_terms(unit(3), unit(3, 1), x_tilde, x, torch.tensor(2), 1.5)
    near = [(0, 1), (1, 9), (4, 9)]
    expected = sum((max(0, a - 2.25) + max(0, b - 2.25)) / 2 for a, b in near) / 3
    assert float(terms.distance) == pytest.approx(expected)


def test_the_radius_is_the_length_of_a_vector_of_ones():
    assert ones_radius(7) == pytest.approx(float(torch.ones(7).norm()))


def test_entropies_are_those_of_torchs_distributions():
    torch.manual_seed(0)
    labels = Gaussian(torch.randn(4), torch.rand(4) + 0.1)
    proposal = Gaussian(torch.randn(4, 3), torch.rand(4, 3) + 0.1)
    x = torch.randn(4, 3)
    terms = generator_terms(labels, proposal, x, x, torch.tensor(1), None)
    expected = torch.distributions.Normal(*labels).entropy().mean()
    torch.testing.assert_close(terms.confidence, expected)
    wide = torch.distributions.Independent(torch.distributions.Normal(*proposal), 1)
    torch.testing.assert_close(terms.diversity, wide.entropy().mean())
    assert float(terms.distance) == pytest.approx(0, abs=1e-5)


def test_the_entropy_of_classes_is_that_of_the_tempered_softmax():
    logits, log_t = torch.tensor([[2.0, 0.0], [-1.0, 1.0]]), torch.tensor([0.5, -0.3])
    x = torch.zeros(2, 1)
    labels = TemperedCategorical(logits, log_t)
    terms = generator_terms(labels, unit(2, 1), x, x, torch.tensor(1), None)
    expected = torch.distributions.Categorical(logits=logits / log_t.exp()[:, None]).entropy()
    torch.testing.assert_close(terms.confidence, expected.mean())


@pytest.mark.parametrize(
    ("use", "expected"),
    [("ABC", 6.0), ("AB", 1.0), ("AC", 8.0), ("BC", 3.0), ("A", 3.0), ("B", -2.0), ("", 0.0)],
)
def test_every_term_can_be_switched_off(use, expected):
    terms = GeneratorTerms(torch.tensor(3.0), torch.tensor(2.0), torch.tensor(5.0))
    assert float(terms.total(use)) == expected


def test_a_term_that_is_switched_off_cannot_spoil_the_others():
    terms = GeneratorTerms(torch.tensor(-math.inf), torch.tensor(2.0), torch.tensor(math.nan))
    assert float(terms.total("B")) == -2.0


def test_pseudo_rows_that_are_not_draws_of_their_densities_are_refused_in_words():
    with pytest.raises(ValueError, match="draw once from each density"):
        generator_terms(
            unit(2), unit(3, 1), torch.zeros(2, 1), torch.zeros(3, 1), torch.tensor(1), None
        )


def test_a_population_equals_a_loop_over_its_members():
    def loss(x_tilde, x, k):
        return generator_terms(unit(8), unit(8, 3), x_tilde, x, k, 1.0).total()

    torch.manual_seed(0)
    rows = torch.randn(4, 8, 3), torch.randn(4, 8, 3), torch.tensor([1, 2, 3, 8])
    one_by_one = torch.stack([loss(*row) for row in zip(*rows, strict=True)])
    torch.testing.assert_close(torch.vmap(loss)(*rows), one_by_one)


def test_where_rows_tie_with_the_last_the_mean_is_over_all_that_count():
    x = line(1.0, 2.0, -2.0, 5.0)
    terms = generator_terms(unit(4), unit(4, 1), torch.zeros(4, 1), x, torch.tensor(2), None)
    assert float(terms.distance) == pytest.approx((1 + 4 + 4) / 3)
