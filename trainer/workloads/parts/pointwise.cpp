#include "trainer/workloads/parts/pointwise.h"

#include "trainer/memory/saved_tensors.h"

#include <ATen/ATen.h>
#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/jit.h>

namespace trainer {

namespace {

constexpr double kRootHalf = 0.70710678118654752440;

// Compiled for the shapes of its first calls.
at::Tensor compiled(const at::Tensor& x)
{
    static const std::shared_ptr<torch::jit::CompilationUnit> unit = torch::jit::compile(R"(
def gelu(x):
    return x * 0.5 * (1.0 + torch.erf(x * 0.70710678118654752440))
)");
    return unit->run_method("gelu", x).toTensor();
}

} // namespace

at::Tensor gelu(const at::Tensor& x, bool fused)
{
    if (!fused)
        return x * 0.5 * (at::erf(x * kRootHalf) + 1.0);
    // Compiled code saves its tensors in another order in its first calls, so it cannot be recomputed.
    return x.is_cpu() || SavedTensors::areHooked() ? at::gelu(x) : compiled(x);
}

} // namespace trainer
