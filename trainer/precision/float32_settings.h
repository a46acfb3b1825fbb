#pragma once

namespace trainer {

/// TF32 for matrix products, convolutions and recurrent layers in FP32 on the GPU; false leaves LibTorch's own choice,
/// which is TF32 for convolutions and recurrent layers only. For the whole process.
void setTf32(bool on);
/// Lets cuDNN time its algorithms for each shape and keep the fastest. For the whole process.
void setCudnnBenchmark(bool on);

} // namespace trainer
