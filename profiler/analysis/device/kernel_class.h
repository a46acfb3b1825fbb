#pragma once

#include "profiler/model/trace.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace profiler::analysis {

/// What a kernel computes, derived from its name: cuBLAS, cuDNN, CUTLASS, PyTorch, Triton, rocBLAS and NCCL use
/// systematic names. A fused attention kernel is Attention; the separate matmul and softmax kernels of unfused
/// attention are Gemm and Reduction.
enum class KernelClass : std::uint8_t {
    Gemm,
    Convolution,
    Attention,
    Normalization, ///< batch, layer and group norm
    Reduction,     ///< including softmax and losses
    Elementwise,   ///< including copies and casts by PyTorch's kernels
    Layout,        ///< transposes, NCHW/NHWC conversion, concatenation
    Indexing,      ///< gather, scatter, embedding
    Pooling,
    Optimizer,     ///< foreach and fused optimizers: kernels over many tensors
    Communication, ///< NCCL, RCCL
    Other,
};
inline constexpr std::size_t kKernelClasses = 12;
/// "gemm", "convolution", "attention", "normalization", "reduction", "elementwise", "layout", "indexing", "pooling",
/// "optimizer", "communication", "other".
std::string_view kernelClassName(KernelClass kernelClass);
KernelClass kernelClass(std::string_view kernelName);

/// The type in which a matrix product or a convolution multiplies, from the kernel's name. Unknown if the name does not
/// contain it, which is common (an unmarked cuDNN kernel, a copy).
enum class Precision : std::uint8_t { Unknown, Fp64, Fp32, Tf32, Fp16, Bf16, Fp8, Int8 };
Precision kernelPrecision(std::string_view kernelName);
/// "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"; empty if unknown.
std::string_view precisionName(Precision precision);
/// True if the kernel multiplies on tensor cores, from the marks in the names of NVIDIA's libraries (hmma, 884, 1688,
/// 16816, wgmma, tensorop…) and from its precision.
bool usesTensorCores(std::string_view kernelName);
/// The same for a kernel that could use them; none for other classes, and if the name contains neither a mark nor the
/// precision.
std::optional<bool> tensorCoreUse(std::string_view kernelName);
/// True for matrix products and convolutions, which can use tensor cores.
constexpr bool isProduct(KernelClass kernelClass)
{
    return kernelClass == KernelClass::Gemm || kernelClass == KernelClass::Convolution ||
           kernelClass == KernelClass::Attention;
}

/// Kernel time by class. Times are summed over kernels, so kernels that overlap on several streams count twice.
struct KernelWork {
    struct Sum {
        std::int64_t count = 0;
        Nanoseconds time{};
    };
    std::array<Sum, kKernelClasses> classes{}; ///< in KernelClass order
    Sum all;
    Nanoseconds fullPrecisionTime{};    ///< products in FP32 without tensor cores (TF32 uses them)
    std::vector<SliceId> fullPrecision; ///< the longest of those, longest first, at most ten
    std::int64_t under10us = 0;         ///< number of kernels shorter than 10 µs

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

/// @param within  only kernels that start inside one of these; empty: all kernels. Sorted, disjoint
/// O(kernels); each name is classified once.
KernelWork kernelWork(const Trace& trace, std::span<const TimeRange> within = {});

} // namespace profiler::analysis
