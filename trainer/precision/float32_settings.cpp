#include "trainer/precision/float32_settings.h"

#include <ATen/Context.h>

namespace trainer {

void setTf32(bool on)
{
    using at::Float32Backend, at::Float32Op, at::Float32Precision;
    // Uses only this interface: after one call of it, LibTorch's older getters throw.
    auto& context = at::globalContext();
    context.setFloat32Precision(Float32Backend::CUDA, Float32Op::MATMUL,
                                on ? Float32Precision::TF32 : Float32Precision::IEEE);
    context.setFloat32Precision(Float32Backend::CUDA, Float32Op::CONV, Float32Precision::TF32);
    context.setFloat32Precision(Float32Backend::CUDA, Float32Op::RNN, Float32Precision::TF32);
}

void setCudnnBenchmark(bool on)
{
    at::globalContext().setBenchmarkCuDNN(on);
}

} // namespace trainer
