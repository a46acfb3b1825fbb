#include "profiler/analysis/kernel_class.h"

#include "profiler/analysis/device_use.h"
#include "profiler/analysis/saturating.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace profiler::analysis {
namespace {

using Marks = std::initializer_list<std::string_view>;

std::string lowered(std::string_view text)
{
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

bool hasAny(std::string_view name, Marks marks)
{
    return std::any_of(marks.begin(), marks.end(), [&](std::string_view mark) { return name.find(mark) != name.npos; });
}

/// "lamb", but not the "lambda" that half of PyTorch's kernels have in their names.
bool isLamb(std::string_view name)
{
    for (auto at = name.find("lamb"); at != name.npos; at = name.find("lamb", at + 1))
        if (name.substr(at, 6) != "lambda")
            return true;
    return false;
}

/// "gemm", but not that of FBGEMM, whose name its tables, permutations and conversions bear.
bool isGemm(std::string_view name)
{
    for (auto at = name.find("gemm"); at != name.npos; at = name.find("gemm", at + 1))
        if (at < 2 || name.substr(at - 2, 2) != "fb")
            return true;
    return hasAny(name, {"gemv", "cublas", "splitkreduce", "cutlass", "cijk_", "dot_kernel", "triton_tem", "nvjet"});
}

/// What Inductor fused bears the names of the operators beside it as well: none of its pointwise and reduction kernels
/// is a product, whatever it is called.
bool isFusedBesideProducts(std::string_view name)
{
    return name.starts_with("triton_poi_") || name.starts_with("triton_red_") || name.starts_with("triton_per_");
}

/// Of its templates only that of FlexAttention is attention itself.
bool isBesideAttention(std::string_view name)
{
    return isFusedBesideProducts(name) || (name.starts_with("triton_tem_") && name.find("flex_attention") == name.npos);
}

bool isAttention(std::string_view name)
{
    return hasAny(name, {"flash", "fmha", "attention", "mem_eff", "sdpa", "attn_fwd", "attn_bwd", "sage_fwd"}) &&
           !isBesideAttention(name);
}

bool isLibraryConvolution(std::string_view name)
{
    return hasAny(name, {"dgrad",       "wgrad",        "fprop",       "convol",     "winograd",
                         "cudnn_infer", "cudnn_train",  "scudnn",      "conv1d",     "conv2d",
                         "conv3d",      "conv_",        "_conv",       "depthwise",  "fft1d",
                         "fft2d",       "cask_cudnn",   "cudnn::gemm", "cudnn::cnn", "scalepackedtensor",
                         "miopen",      "gtcx",         "im2d2col",    "884cudnn",   "1688cudnn",
                         "16816cudnn",  "implicit_gemm"});
}

/// The first class whose marks fit: the order settles names that hold several ("batch_norm … reduce", "cudnn …
/// nchwToNhwc").
KernelClass classOf(std::string_view name)
{
    if (isCommunication(name))
        return KernelClass::Communication;
    if (isAttention(name))
        return KernelClass::Attention;
    if (hasAny(name, {"bn_fw", "bn_bw", "batch_norm", "batchnorm", "layer_norm", "layernorm", "group_norm", "groupnorm",
                      "rms_norm", "rmsnorm"}))
        return KernelClass::Normalization;
    if (hasAny(name, {"multi_tensor_apply", "fusedadam", "fused_adam", "adamw", "fusedsgd", "fused_sgd"}) ||
        isLamb(name))
        return KernelClass::Optimizer;
    if (hasAny(name, {"nchwtonhwc", "nhwctonchw", "transpose", "permute", "catarraybatchedcopy", "tensor_transform",
                      "tensortransform"}))
        return KernelClass::Layout;
    const bool mayBeProduct = !isFusedBesideProducts(name);
    if (mayBeProduct && isLibraryConvolution(name))
        return KernelClass::Convolution;
    if (hasAny(name, {"split_embedding", "embedding_codegen", "bounds_check_indices", "bucketize_sparse"}))
        return KernelClass::Indexing;
    if (mayBeProduct && isGemm(name))
        return KernelClass::Gemm;
    if (hasAny(name, {"softmax", "reduce", "nll_loss", "triton_red", "triton_per", "welford", "norm_kernel"}))
        return KernelClass::Reduction;
    if (hasAny(name, {"elementwise", "triton_poi", "fused_dropout", "pointwise", "fused_kernel"}))
        return KernelClass::Elementwise;
    if (hasAny(name, {"pool"}))
        return KernelClass::Pooling;
    if (hasAny(name, {"index", "embedding", "gather", "scatter"}))
        return KernelClass::Indexing;
    return KernelClass::Other;
}

/// Precision of what Tensile generated for AMD: "cijk_ailk_bljk_BBS_bh_…" names its types after the operands' indices.
/// Source: Tensile's DataType.toChar (S, D, H, B, F8, I8; C and Z are complex).
std::optional<Precision> tensilePrecision(std::string_view name)
{
    constexpr std::size_t kBeforeTypes = 15; // "cijk_ailk_bljk_"
    const auto at = name.find("cijk_");
    if (at == name.npos || name.size() < at + kBeforeTypes + 2)
        return std::nullopt;
    const std::string_view types = name.substr(at + kBeforeTypes);
    if (types.starts_with("f8") || types.starts_with("b8"))
        return Precision::Fp8;
    if (types.starts_with("i8") || types.starts_with("4xi8"))
        return Precision::Int8;
    switch (types.front()) {
    case 'b':
        return Precision::Bf16;
    case 'h':
        return Precision::Fp16;
    case 's':
        return Precision::Fp32;
    case 'd':
        return Precision::Fp64;
    default:
        return Precision::Unknown;
    }
}

/// AMD's composable kernels call BF16 an unsigned short: "unsigned short, unsigned short, float", mangled "ttft".
bool isComposableBf16(std::string_view name)
{
    return hasAny(name, {"ck::", "n2ck", "ck_tile"}) && hasAny(name, {"unsigned short", "ttf", "bhalf"});
}

/// What the marks say, before it is known whether the kernel is on tensor cores.
Precision precisionOf(std::string_view name)
{
    if (const auto tensile = tensilePrecision(name))
        return *tensile;
    if (isComposableBf16(name))
        return Precision::Bf16;
    if (hasAny(name, {"e4m3", "e5m2", "fp8", "f8f8"}))
        return Precision::Fp8;
    if (hasAny(name, {"bf16", "bfloat16", "df16b"}))
        return Precision::Bf16;
    if (hasAny(name, {"tf32", "tensorop_s1688", "s1688gemm_1", "s1688fprop", "s1688dgrad", "s1688wgrad"}))
        return Precision::Tf32;
    if (hasAny(name, {"fp16", "half", "f16", "hgemm", "h884", "h1688", "h16816", "hmma", "s884", "s16816"}))
        return Precision::Fp16;
    if (hasAny(name, {"int8", "i8816", "i16832", "imma"}) || (hasAny(name, {"s8_"}) && !name.starts_with("_z")))
        return Precision::Int8;
    if (hasAny(name, {"dgemm", "double"}))
        return Precision::Fp64;
    if (hasAny(name, {"sgemm", "scudnn", "float", "f32", "fp32"}))
        return Precision::Fp32;
    return Precision::Unknown;
}

bool onTensorCores(std::string_view name, Precision precision)
{
    if (hasAny(name, {"simt", "volta_sgemm", "scudnn"}))
        return false;
    if (hasAny(name, {"tensorop", "hmma", "imma", "gmma", "wmma", "884", "1688", "16816", "16832", "warpgroup", "nvjet",
                      "flash"}))
        return true;
    const bool narrow = precision == Precision::Fp16 || precision == Precision::Bf16 || precision == Precision::Fp8 ||
                        precision == Precision::Tf32;
    // cuDNN's and cuBLAS' newer kernels say only the types: in sixteen bits they have no other path.
    // AMD's name the matrix instruction; in thirty-two bits it is no faster than what autocast would leave behind.
    return narrow &&
           hasAny(name, {"xmma", "cutlass", "cudnn", "fmha", "_mi16x", "_mi32x", "mfma", "xdl", "gtcx", "ck::"});
}

struct Judged {
    KernelClass kernelClass{};
    bool fullPrecision = false; ///< a product, in FP32 without tensor cores
};

Judged judge(std::string_view name)
{
    const std::string lower = lowered(name);
    Judged judged{.kernelClass = classOf(lower)};
    if (isProduct(judged.kernelClass)) {
        const Precision precision = precisionOf(lower);
        judged.fullPrecision = precision == Precision::Fp32 && !onTensorCores(lower, precision);
    }
    return judged;
}

constexpr std::int64_t kSmallNs = 10'000;
constexpr std::size_t kMostLongest = 10;

struct FullPrecision {
    Nanoseconds duration{};
    TraceTime begin{};
    SliceId id;
};

void add(KernelWork& work, const SliceView& kernel, const Judged& judged, std::vector<FullPrecision>& fullPrecision)
{
    const Nanoseconds duration = kernel.duration();
    auto& sum = work.classes[static_cast<std::size_t>(judged.kernelClass)];
    for (KernelWork::Sum* s : {&sum, &work.all}) {
        ++s->count;
        addSaturating(s->time, duration);
    }
    work.under10us += duration.count() < kSmallNs ? 1 : 0;
    if (judged.fullPrecision) {
        addSaturating(work.fullPrecisionTime, duration);
        fullPrecision.push_back({duration, kernel.begin(), kernel.id()});
    }
}

} // namespace

std::string_view kernelClassName(KernelClass kernelClass)
{
    constexpr std::array<std::string_view, kKernelClasses> kNames = {
        "gemm",   "convolution", "attention", "normalization", "reduction",     "elementwise",
        "layout", "indexing",    "pooling",   "optimizer",     "communication", "other"};
    return kNames[static_cast<std::size_t>(kernelClass)];
}

KernelClass kernelClass(std::string_view kernelName)
{
    return classOf(lowered(kernelName));
}

Precision kernelPrecision(std::string_view kernelName)
{
    return precisionOf(lowered(kernelName));
}

bool usesTensorCores(std::string_view kernelName)
{
    const std::string lower = lowered(kernelName);
    return onTensorCores(lower, precisionOf(lower));
}

KernelWork kernelWork(const Trace& trace, std::span<const TimeRange> within)
{
    KernelWork work;
    std::vector<std::optional<Judged>> judged(trace.stringCount());
    std::vector<FullPrecision> fullPrecision;
    const auto visit = [&](const SliceView& kernel) {
        if (!within.empty() && !beginsWithin(kernel.begin(), within))
            return;
        std::optional<Judged>& verdict = judged[kernel.nameId().value];
        if (!verdict)
            verdict = judge(kernel.name());
        add(work, kernel, *verdict, fullPrecision);
    };
    for (const Track& track : trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachViewOf(trace, track.id, ActivityKind::Kernel, visit);
    const auto most = static_cast<std::ptrdiff_t>(std::min(kMostLongest, fullPrecision.size()));
    std::partial_sort(fullPrecision.begin(), fullPrecision.begin() + most, fullPrecision.end(),
                      [](const FullPrecision& a, const FullPrecision& b) {
                          return std::tuple{-a.duration, a.begin} < std::tuple{-b.duration, b.begin};
                      });
    for (auto at = fullPrecision.begin(); at != fullPrecision.begin() + most; ++at)
        work.fullPrecision.push_back(at->id);
    return work;
}

} // namespace profiler::analysis
