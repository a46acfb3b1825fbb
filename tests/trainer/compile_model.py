"""Writes a model as TorchScript and as packages of AOTInductor into a folder: for any batch, for one of 16, and
with its small weights written into the code, as PyTorch does it by itself."""

import sys

import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 32), nn.ReLU(), nn.Linear(32, 4))

    def forward(self, x):
        return self.layers(x)


folder = sys.argv[1]
torch.manual_seed(0)
torch.set_num_threads(1)
model = Model()
torch.jit.script(model).save(folder + "/model.pt")
model.eval()
example = (torch.rand(16, 3, 16, 16),)
any_batch = ({0: torch.export.Dim("batch", min=1, max=64)},)
for name, shapes, keep in (("dynamic", any_batch, True), ("fixed", None, True), ("written", None, False)):
    program = torch.export.export(model, example, dynamic_shapes=shapes)
    torch._inductor.aoti_compile_and_package(
        program, package_path=f"{folder}/{name}.pt2", inductor_configs={"always_keep_tensor_constants": keep}
    )
