#pragma once

namespace trainer {

/// Allows TF32 for FP32 matmuls, convolutions and recurrent layers on the GPU; false keeps LibTorch's default, which is
/// TF32 for convolutions and recurrent layers only. Process-wide.
void setTf32(bool on);
/// Lets cuDNN benchmark its algorithms per shape and keep the fastest. Process-wide.
void setCudnnBenchmark(bool on);

} // namespace trainer
