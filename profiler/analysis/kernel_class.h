#pragma once

#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// What a kernel computes, told by its name: cuBLAS, cuDNN, CUTLASS, PyTorch's own, Triton, rocBLAS and NCCL name
/// theirs systematically. A fused attention kernel is Attention; matmul and softmax written out are Gemm and Reduction.
enum class KernelClass : std::uint8_t {
    Gemm,
    Convolution,
    Attention,
    Normalization, ///< batch, layer, group norm
    Reduction,     ///< softmax and losses too
    Elementwise,   ///< copies and casts of PyTorch's own kernels too
    Layout,        ///< transposes, changes between NCHW and NHWC, concatenation
    Indexing,      ///< gather, scatter, embedding
    Pooling,
    Optimizer,     ///< kernels over many tensors at once: foreach and fused optimizers
    Communication, ///< NCCL, RCCL
    Other,
};
inline constexpr std::size_t kKernelClasses = 12;
/// "gemm", "convolution", "attention", "normalization", "reduction", "elementwise", "layout", "indexing", "pooling",
/// "optimizer", "communication", "other".
std::string_view kernelClassName(KernelClass kernelClass);
KernelClass kernelClass(std::string_view kernelName);

/// The type in which a matrix product or a convolution multiplies, by the kernel's name; Unknown where that does not
/// say (which is common: an unmarked cuDNN kernel, a copy).
enum class Precision : std::uint8_t { Unknown, Fp64, Fp32, Tf32, Fp16, Bf16, Fp8, Int8 };
Precision kernelPrecision(std::string_view kernelName);
/// The kernel multiplies on tensor cores, by the marks that NVIDIA's libraries put into names (hmma, 884, 1688, 16816,
/// wgmma, tensorop…) and by its precision.
bool usesTensorCores(std::string_view kernelName);
/// A matrix product or a convolution: what tensor cores can do.
constexpr bool isProduct(KernelClass kernelClass)
{
    return kernelClass == KernelClass::Gemm || kernelClass == KernelClass::Convolution ||
           kernelClass == KernelClass::Attention;
}

/// Kernel time by what it computes. Times are summed over kernels, so streams that overlap count twice.
struct KernelWork {
    struct Sum {
        std::int64_t count = 0;
        Nanoseconds time{};
    };
    std::array<Sum, kKernelClasses> classes{}; ///< in KernelClass order
    Sum all;
    Nanoseconds fullPrecisionTime{};    ///< of products, in FP32 without tensor cores (TF32 is on them)
    std::vector<SliceId> fullPrecision; ///< longest of those, longest first, at most ten
    std::int64_t under10us = 0;         ///< kernels

    [[nodiscard]] const Sum& of(KernelClass kernelClass) const
    {
        return classes[static_cast<std::size_t>(kernelClass)];
    }
    /// Share of all kernel time, [0, 1]; 0 without kernels.
    [[nodiscard]] double share(KernelClass kernelClass) const { return share(of(kernelClass).time); }
    [[nodiscard]] double share(Nanoseconds time) const
    {
        return all.time.count() > 0 ? static_cast<double>(time.count()) / static_cast<double>(all.time.count()) : 0;
    }
};

/// @param within  kernels that begin inside one of these; empty: all kernels. Sorted, disjoint
/// O(kernels); names are judged once each.
KernelWork kernelWork(const Trace& trace, std::span<const TimeRange> within = {});

} // namespace profiler::analysis
