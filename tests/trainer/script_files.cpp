#include "tests/trainer/script_files.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/module.h>

namespace trainer_test {

namespace {

torch::jit::Module linear(const std::shared_ptr<torch::jit::CompilationUnit>& unit, int in, int out)
{
    torch::jit::Module layer(c10::QualifiedName("__torch__.Linear"), unit);
    layer.register_parameter("weight", (at::randn({out, in}) * 0.05).requires_grad_(), false);
    layer.register_parameter("bias", at::zeros({out}).requires_grad_(), false);
    layer.define("def forward(self, x):\n  return torch.linear(x, self.weight, self.bias)\n");
    return layer;
}

} // namespace

void writeLinearScript(const std::filesystem::path& path, int in, int out)
{
    const auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module net(c10::QualifiedName("__torch__.Net"), unit);
    net.register_module("fc", linear(unit, in, out));
    net.define("def forward(self, x):\n  return self.fc.forward(torch.flatten(x, 1))\n");
    net.save(path.string());
}

void writeViewScript(const std::filesystem::path& path, int in, int out)
{
    const auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module net(c10::QualifiedName("__torch__.Net"), unit);
    net.register_module("fc", linear(unit, in, out));
    net.define("def forward(self, x):\n  return self.fc.forward(x.view(x.size(0), -1))\n");
    net.save(path.string());
}

void writeLossScript(const std::filesystem::path& path, int in)
{
    const auto unit = std::make_shared<torch::jit::CompilationUnit>();
    torch::jit::Module net(c10::QualifiedName("__torch__.Net"), unit);
    net.register_module("fc", linear(unit, in, 1));
    net.define("def forward(self, x, target):\n"
               "  y = self.fc.forward(torch.flatten(x, 1)).squeeze(1)\n"
               "  return torch.mean((y - target) * (y - target))\n");
    net.save(path.string());
}

} // namespace trainer_test
