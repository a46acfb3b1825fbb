#include "profiler/analysis/device/kernel_class.h"

#include "profiler/analysis/device/device_use.h"
#include "profiler/analysis/slice_queries.h"
#include "profiler/analysis/statistics.h"

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

/// True if `mark` occurs without being followed by one of `others`: "conv", but not "convert".
bool hasWithout(std::string_view name, std::string_view mark, Marks others)
{
    for (auto at = name.find(mark); at != name.npos; at = name.find(mark, at + 1)) {
        const std::string_view rest = name.substr(at + mark.size());
        if (std::none_of(others.begin(), others.end(), [&](std::string_view other) { return rest.starts_with(other); }))
            return true;
    }
    return false;
}

/// A kernel's name in lower case, split into parts. Types in template arguments and parameters describe other things
/// than the kernel ("cutlass::bfloat16_t", "cublasTransposeParams").
struct NameParts {
    std::string head;   ///< the function with its namespaces: "cutlass::device_kernel"
    std::string detail; ///< the template arguments
};

void removeAll(std::string& text, std::string_view part)
{
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at))
        text.erase(at, part.size());
}

/// Splits "_ZN7ck_tile6kentryILi1E…" into the identifiers before the template arguments and the rest. For other, rare
/// forms of mangled names, the head is the whole name.
NameParts splitMangled(std::string_view name)
{
    NameParts parts;
    std::size_t at = name.starts_with("_zn") ? 3 : 2;
    while (at < name.size() && name[at] >= '0' && name[at] <= '9') {
        std::size_t length = 0;
        while (at < name.size() && name[at] >= '0' && name[at] <= '9' && length < name.size())
            length = length * 10 + static_cast<std::size_t>(name[at++] - '0');
        length = std::min(length, name.size() - at);
        parts.head += (parts.head.empty() ? "" : "::") + std::string(name.substr(at, length));
        at += length;
    }
    parts.detail = name.substr(at);
    const bool ends = parts.detail.empty() || parts.detail.front() == 'i' || parts.detail.front() == 'e';
    return parts.head.empty() || !ends ? NameParts{std::string(name), {}} : parts;
}

/// @param lowerCase  the name, in lower case
NameParts split(std::string_view lowerCase)
{
    if (lowerCase.starts_with("_z"))
        return splitMangled(lowerCase);
    std::string name(lowerCase);
    removeAll(name, "(anonymous namespace)::");
    removeAll(name, "<unnamed>::");
    NameParts parts;
    int angles = 0, brackets = 0; // angle brackets inside parentheses are comparisons: "enable_if<((8)>(0)), void>"
    for (const char c : name) {
        if (c == '(' && angles == 0)
            break; // start of the parameters
        brackets += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c == '>' && brackets == 0 && angles > 0)
            --angles;
        (angles == 0 ? parts.head : parts.detail) += c;
        if (c == '<' && brackets == 0)
            ++angles;
    }
    return parts;
}

/// True for "lamb", but not for "lambda", which half of PyTorch's kernel names contain.
bool isLamb(std::string_view name)
{
    return hasWithout(name, "lamb", {"da"});
}

/// True for "gemm", but not for FBGEMM, whose prefix is also in the names of its tables, permutations and conversions.
bool isGemm(std::string_view name)
{
    for (auto at = name.find("gemm"); at != name.npos; at = name.find("gemm", at + 1))
        if (at < 2 || name.substr(at - 2, 2) != "fb")
            return true;
    return name.starts_with("bmm_") ||
           hasAny(name, {"gemv", "cublas", "splitkreduce", "cijk_", "dot_kernel", "reduce_1block_kernel", "nvjet",
                         "matmul", "scaled_mm", "grouped_mm", "fused_moe_kernel", "marlin", "machete", "bgmv", "sgmv",
                         "mul_mat", "splitk_small", "wvsplitk", "epilogue::impl::globalkernel"});
}

bool isAttention(std::string_view name)
{
    return hasAny(name, {"flash_fwd",
                         "flash_bwd",
                         "flash::",
                         "flash_attn",
                         "flashattn",
                         "flash_attention",
                         "flash_mla",
                         "flashinfer::mla",
                         "mla_kernel",
                         "fmha",
                         "attention",
                         "mem_eff",
                         "sdpa",
                         "attn_fwd",
                         "attn_bwd",
                         "sage_fwd",
                         "batchprefillwith",
                         "batchdecodewith",
                         "singleprefillwith",
                         "singledecodewith",
                         "mergestates",
                         "merge_state",
                         "fwd_grouped_kernel_stage1",
                         "fwd_kernel_stage1",
                         "fwd_kernel_stage2",
                         "bwd_kernel_dkdv",
                         "bwd_kernel_dk_dv",
                         "bwd_kernel_dq",
                         "bwd_kernel_fuse",
                         "mha_fwd",
                         "mha_bwd",
                         "mha_varlen"});
}

bool isNormalization(std::string_view name)
{
    return hasAny(name, {"bn_fw",
                         "bn_bw",
                         "batch_norm",
                         "batchnorm",
                         "layer_norm",
                         "layernorm",
                         "group_norm",
                         "groupnorm",
                         "instance_norm",
                         "instancenorm",
                         "rms_norm",
                         "rmsnorm",
                         "ln_fwd",
                         "ln_bwd",
                         "rowwisemoments",
                         "gammabeta",
                         "cucomputegradinput",
                         "computefusedparams",
                         "computebackwardfusedparams",
                         "computeinternalgradients",
                         "transformer_engine::normalization"});
}

bool isConvolution(std::string_view name)
{
    return hasWithout(name, "conv", {"er"}) || hasAny(name, {"dgrad",          "wgrad",        "fprop",
                                                             "winograd",       "cudnn_infer",  "cudnn_train",
                                                             "scudnn",         "5x_cudnn",     "884cudnn",
                                                             "1688cudnn",      "16816cudnn",   "cask_cudnn",
                                                             "cudnn::gemm",    "cudnn::cnn",   "depthwise",
                                                             "fft1d",          "fft2d",        "scalepackedtensor",
                                                             "gtcx",           "gtc_",         "im2d2col",
                                                             "im3d2col",       "im2col",       "col2im",
                                                             "implicit_gemm",  "implicitgemm", "xdlops_bwd_weight",
                                                             "xdlops_bwd_data"});
}

bool isOptimizer(std::string_view name)
{
    return hasAny(name, {"multi_tensor_apply", "multitensorapply", "fusedadam", "fused_adam", "adamw", "adam_kernel",
                         "fusedsgd", "fused_sgd", "sgd_kernel", "koptimizer", "kpreconditionoptimizer",
                         "adagrad_kernel", "novograd"}) ||
           isLamb(name);
}

bool isLayout(std::string_view name)
{
    return hasAny(name, {"nchwtonhwc", "nhwctonchw", "transpose", "permute", "catarraybatchedcopy", "chunk_cat",
                         "split_with_sizes", "tensor_transform", "tensortransform", "_pad_forward", "_pad_backward",
                         "roll_cuda"});
}

bool isIndexing(std::string_view name)
{
    return hasAny(name, {"index",
                         "embedding",
                         "gather",
                         "scatter",
                         "bounds_check_indices",
                         "bucketize_sparse",
                         "reshape_and_cache",
                         "concat_and_cache",
                         "store_kvcache",
                         "kv_cache",
                         "kvcache",
                         "kv_indices",
                         "page_indices",
                         "moe_align_block_size",
                         "sort_expert_tokens",
                         "partial_segment",
                         "partials_per_segment",
                         "compute_grad_weight",
                         "masked_select",
                         "nonzero"});
}

/// Inductor encodes the kind of kernel in a prefix. The operators after it are fused into the kernel or adjacent to it,
/// so most of them do not describe the kernel itself.
std::optional<KernelClass> inductorClass(std::string_view name)
{
    if (!name.starts_with("triton_"))
        return std::nullopt;
    const std::string_view kind = name.substr(std::string_view("triton_").size(), 4);
    if (kind == "tem_") // a template: a matrix product
        return name.find("flex_attention") != name.npos ? KernelClass::Attention
               : name.find("convolution") != name.npos  ? KernelClass::Convolution
                                                        : KernelClass::Gemm;
    if (kind == "for_") // a loop over lists of tensors
        return KernelClass::Optimizer;
    if (kind == "poi_")
        return isNormalization(name) ? KernelClass::Normalization : KernelClass::Elementwise;
    if (kind == "red_" || kind == "per_")
        return isNormalization(name) ? KernelClass::Normalization : KernelClass::Reduction;
    return std::nullopt;
}

/// True for kernels whose template arguments describe what they do.
bool isWrapper(std::string_view head)
{
    return head == "kernel" || hasAny(head, {"cutlass::kernel", "cutlass::device_kernel", "cutlass_cudnn", "5x_cudnn",
                                             "ck_tile::kentry", "cutlass::reduction"});
}

KernelClass wrappedClass(const NameParts& name)
{
    if (isAttention(name.detail))
        return KernelClass::Attention;
    if (isNormalization(name.detail))
        return KernelClass::Normalization;
    if (isConvolution(name.detail) || isConvolution(name.head))
        return KernelClass::Convolution;
    return isGemm(name.detail) || name.head.find("cutlass") != name.head.npos ? KernelClass::Gemm : KernelClass::Other;
}

/// The first class with a matching mark. The order decides for names with several marks ("batch_norm … reduce", "cudnn
/// … nchwToNhwc").
KernelClass classOfHead(std::string_view head)
{
    if (hasAny(head, {"index_elementwise", "scatter_gather_elementwise", "split_embedding", "embedding_codegen",
                      "reshape_and_cache", "concat_and_cache", "store_kvcache", "kv_indices", "deep_ep::layout"}))
        return KernelClass::Indexing;
    if (hasAny(head, {"sage_quant"}))
        return KernelClass::Elementwise;
    if (isAttention(head))
        return KernelClass::Attention;
    if (isNormalization(head))
        return KernelClass::Normalization;
    if (isOptimizer(head))
        return KernelClass::Optimizer;
    if (isLayout(head))
        return KernelClass::Layout;
    if (hasAny(head, {"pooling", "max_pool", "avg_pool", "average_pool", "maxpool", "avgpool"}))
        return KernelClass::Pooling;
    if (isConvolution(head))
        return KernelClass::Convolution;
    if (hasAny(head, {"rotary", "rope_", "act_and_mul"}))
        return KernelClass::Elementwise;
    if (hasAny(head, {"bounds_check_indices", "bucketize_sparse", "moe_align_block_size", "sort_expert_tokens"}))
        return KernelClass::Indexing;
    if (isGemm(head))
        return KernelClass::Gemm;
    if (hasAny(head, {"softmax", "reduce", "reduction", "nll_loss", "nllcriterion", "cross_entropy", "welford",
                      "norm_kernel", "lpnorm", "logsumexp", "moe_sum"}))
        return KernelClass::Reduction;
    if (hasAny(head, {"elementwise", "dropout",     "pointwise",   "fused_kernel", "quant",      "silu",
                      "swiglu",      "geglu",       "gelu",        "relu",         "activation", "op_tensor",
                      "subtensorop", "op1dtensor",  "op2dtensor",  "op4dtensor",   "op5dtensor", "opgenerictensor",
                      "triu_tril",   "scal_kernel", "copy_kernel", "fill_kernel",  "fp8rowwise", "devicetransform"}))
        return KernelClass::Elementwise;
    if (isIndexing(head))
        return KernelClass::Indexing;
    if (head.starts_with("loop_") || head.starts_with("wrapped_")) // fusions by XLA
        return KernelClass::Elementwise;
    return hasAny(head, {"pool"}) ? KernelClass::Pooling : KernelClass::Other;
}

/// @param kernelName  as in the trace
KernelClass classOf(std::string_view kernelName)
{
    if (isCommunication(kernelName))
        return KernelClass::Communication;
    std::string lower = lowered(kernelName);
    if (lower.starts_with("void "))
        lower.erase(0, 5);
    if (const auto generated = inductorClass(lower))
        return *generated;
    const NameParts name = split(lower);
    if (isWrapper(name.head))
        return wrappedClass(name);
    const KernelClass found = classOfHead(name.head);
    // PyTorch implements parts of its norms as elementwise kernels with a lambda that has the norm's name.
    if (found == KernelClass::Elementwise && isNormalization(name.detail))
        return KernelClass::Normalization;
    return found;
}

/// Precision of kernels generated by Tensile for AMD: in "cijk_ailk_bljk_BBS_bh_…", the types follow the operand
/// indices. Source: Tensile's DataType.toChar (S, D, H, B, F8, I8; C and Z are complex).
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

/// AMD's Composable Kernel represents BF16 as an unsigned short: "unsigned short, unsigned short, float", mangled
/// "ttft".
bool isComposableBf16(std::string_view name)
{
    return hasAny(name, {"ck::", "n2ck", "ck_tile"}) && hasAny(name, {"unsigned short", "ttf", "bhalf"});
}

/// The precision according to the marks, before considering tensor cores.
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
    // Newer kernels of cuDNN and cuBLAS name only the types; with 16-bit types they always use tensor cores. Kernels
    // for AMD name the matrix instruction even for 32-bit types, for which it is slow and autocast would still help.
    return narrow &&
           hasAny(name, {"xmma", "cutlass", "cudnn", "fmha", "_mi16x", "_mi32x", "mfma", "xdl", "gtcx", "ck::"});
}

struct Classified {
    KernelClass kernelClass{};
    bool fullPrecision = false; ///< a product in FP32 without tensor cores
};

Classified classify(std::string_view name)
{
    Classified classified{.kernelClass = classOf(name)};
    if (isProduct(classified.kernelClass)) {
        const std::string lower = lowered(name);
        const Precision precision = precisionOf(lower);
        classified.fullPrecision = precision == Precision::Fp32 && !onTensorCores(lower, precision);
    }
    return classified;
}

constexpr std::int64_t kSmallNs = 10'000;
constexpr std::size_t kMostLongest = 10;

struct FullPrecision {
    Nanoseconds duration{};
    TraceTime begin{};
    SliceId id;
};

void add(KernelWork& work, const SliceView& kernel, const Classified& classified,
         std::vector<FullPrecision>& fullPrecision)
{
    const Nanoseconds duration = kernel.duration();
    auto& sum = work.classes[static_cast<std::size_t>(classified.kernelClass)];
    for (KernelWork::Sum* s : {&sum, &work.all}) {
        ++s->count;
        addSaturating(s->time, duration);
    }
    work.under10us += duration.count() < kSmallNs ? 1 : 0;
    if (classified.fullPrecision) {
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
    return classOf(kernelName);
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

std::string_view precisionName(Precision precision)
{
    constexpr std::array<std::string_view, 8> kNames = {"", "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"};
    return kNames[static_cast<std::size_t>(precision)];
}

std::optional<bool> tensorCoreUse(std::string_view kernelName)
{
    if (!isProduct(classOf(kernelName)))
        return std::nullopt;
    const std::string lower = lowered(kernelName);
    const Precision precision = precisionOf(lower);
    if (onTensorCores(lower, precision))
        return true;
    const bool wide = precision == Precision::Fp32 || precision == Precision::Fp64;
    return wide || lower.find("simt") != lower.npos ? std::optional(false) : std::nullopt;
}

KernelWork kernelWork(const Trace& trace, std::span<const TimeRange> within)
{
    KernelWork work;
    std::vector<std::optional<Classified>> classified(trace.stringCount());
    std::vector<FullPrecision> fullPrecision;
    const auto visit = [&](const SliceView& kernel) {
        if (!within.empty() && !beginsWithin(kernel.begin(), within))
            return;
        std::optional<Classified>& verdict = classified[kernel.nameId().value];
        if (!verdict)
            verdict = classify(kernel.name());
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
