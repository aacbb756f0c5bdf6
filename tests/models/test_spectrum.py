import pytest
import torch

from reprior.models.spectrum import by_rotations, spectrum


def symmetric(n, dtype=torch.float64):
    torch.manual_seed(n)
    half = torch.randn(4, n, n, dtype=dtype)
    return half @ half.transpose(-1, -2)


@pytest.mark.parametrize("n", [2, 4, 10, 16])
def test_rotations_find_what_the_library_finds(n):
    matrix = symmetric(n)
    values, vectors = by_rotations(matrix)
    torch.testing.assert_close(values, torch.linalg.eigvalsh(matrix))
    rebuilt = vectors @ torch.diag_embed(values) @ vectors.transpose(-1, -2)
    torch.testing.assert_close(rebuilt, matrix)


def test_single_precision_is_enough():
    matrix = symmetric(10, torch.float32)
    expected = torch.linalg.eigvalsh(matrix.double())
    found = by_rotations(matrix)[0].double()
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_lifted_it_is_the_loop():
    matrix = symmetric(6)
    values, vectors = torch.vmap(spectrum)(matrix)
    for p in range(4):
        one = spectrum(matrix[p])
        torch.testing.assert_close(values[p], one[0])
        torch.testing.assert_close(vectors[p], one[1])


def test_a_matrix_without_numbers_leaves_its_neighbours_alone():
    matrix = symmetric(6)
    expected = spectrum(matrix[1])[0]
    matrix[0] = torch.nan
    torch.testing.assert_close(torch.vmap(spectrum)(matrix)[0][1], expected)
