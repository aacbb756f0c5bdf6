"""One thread per test process: the networks are small, and threads that wait cost up to 80-fold."""

import torch

torch.set_num_threads(1)
