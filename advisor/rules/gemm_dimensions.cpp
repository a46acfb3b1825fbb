#include "advisor/advice.h"
#include "advisor/evidence/gpu_facts.h"
#include "advisor/evidence/run_facts.h"
#include "advisor/prediction/replay_saving.h"
#include "advisor/verdict.h"
#include "profiler/analysis/device/kernel_class.h"
#include "profiler/analysis/slice_queries.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace advisor::rules {
namespace {

using namespace profiler;
using namespace profiler::analysis;

constexpr std::string_view kKey = "gemm.dimensions";
// Compute capability 7.0. Source: the CUDA programming guide's table of features by compute capability.
constexpr int kFirstWithTensorCores = 70;
// Minimum share of the time: below it, other sizes have no measurable effect; the same holds if the device waits for
// the host.
constexpr double kMinimumShare = 0.05;
// If padding multiplies the work by more than this, it costs more than it gains, as in a matrix-vector product.
constexpr double kMostPadding = 1.5;
constexpr std::size_t kMostNamed = 3;
// No tensor is this long: such a number comes from a damaged file.
constexpr std::int64_t kNoSize = std::int64_t{1} << 40;

/// Rows and columns of the result, and the dimension that is summed over.
using Sizes = std::array<std::int64_t, 3>;

double volume(const Sizes& sizes)
{
    return static_cast<double>(sizes[0]) * static_cast<double>(sizes[1]) * static_cast<double>(sizes[2]);
}

std::string text(const Sizes& sizes)
{
    return fmt::format("{} × {} × {}", sizes[0], sizes[1], sizes[2]);
}

/// Index of the first factor among the operator's inputs; no value if the operator is not a matrix product.
std::optional<std::size_t> firstFactor(std::string_view op)
{
    if (op == "aten::mm" || op == "aten::bmm")
        return 0;
    if (op == "aten::addmm" || op == "aten::baddbmm" || op == "aten::_addmm_activation")
        return 1;
    return std::nullopt;
}

/// Parses "[[4, 5], [5, 6]]", or "[[8, 4, 5], [8, 5, 6]]" for bmm, to 4 × 6 × 5. No value if the shapes are not
/// recorded.
std::optional<Sizes> sizesOf(std::string_view shapes, std::size_t first)
{
    const std::vector<std::string> inputs = listEntries(shapes);
    if (inputs.size() < first + 2)
        return std::nullopt;
    const auto a = listEntries(inputs[first]), b = listEntries(inputs[first + 1]);
    if (a.size() < 2 || b.size() != a.size())
        return std::nullopt;
    const auto number = [](const std::string& entry) { return std::strtoll(entry.c_str(), nullptr, 10); };
    const Sizes sizes = {number(a[a.size() - 2]), number(b.back()), number(a.back())};
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    return *least > 0 && *most < kNoSize ? std::optional(sizes) : std::nullopt;
}

/// Sizes should be multiples of this number, which corresponds to 16 bytes. Source: NVIDIA, Deep Learning Performance:
/// Matrix Multiplication Background (multiples of 8 for FP16 and of 4 for TF32, so that tensor cores are used
/// efficiently). 0: the product does not use tensor cores.
std::int64_t unitOf(Precision precision)
{
    switch (precision) {
    case Precision::Fp16:
    case Precision::Bf16:
        return 8;
    case Precision::Tf32:
        return 4;
    case Precision::Fp8:
    case Precision::Int8:
        return 16;
    default:
        return 0;
    }
}

/// Precision from the type of the operator's inputs: the name of a kernel that multiplies 16-bit numbers does not
/// always contain the type.
Precision inputPrecision(std::string_view types)
{
    if (types.find("Half") != types.npos)
        return Precision::Fp16;
    return types.find("BFloat16") != types.npos ? Precision::Bf16 : Precision::Unknown;
}

Sizes padded(const Sizes& sizes, std::int64_t unit)
{
    Sizes result = sizes;
    for (std::int64_t& size : result)
        size = (size + unit - 1) / unit * unit;
    return result;
}

struct Product {
    SliceId op;
    std::optional<Sizes> sizes;
    Precision precision = Precision::Unknown;
    Nanoseconds time{}; ///< of its kernels in the analysis window
    bool onTensorCores = false;
    std::vector<SliceId> kernels{}; ///< in the analysis window
};

/// Products of host threads, found by the correlation ids of the API calls within them.
struct Products {
    std::vector<Product> all;
    std::unordered_map<std::uint64_t, std::size_t> byCall;
};

Products productsOf(const Trace& trace)
{
    Products found;
    NameAnswers factor(trace, firstFactor);
    for (const Track& track : trace.tracks()) {
        if (track.kind != TrackKind::MainThread && track.kind != TrackKind::Thread)
            continue;
        const std::vector<SliceBrief> ops = briefsWhere(trace, track.id, [&](const SliceView& slice) {
            return slice.kind() == ActivityKind::CpuOp && factor(slice.nameId());
        });
        if (ops.empty())
            continue;
        const std::size_t base = found.all.size();
        for (const SliceBrief& op : ops) {
            const SliceArgs args = trace.slice(op.id).args;
            found.all.push_back({.op = op.id,
                                 .sizes = sizesOf(trace.string(args.shapes), *factor(op.name)),
                                 .precision = inputPrecision(trace.string(args.types))});
        }
        forEachView(trace, track.id, [&](const SliceView& call) {
            if ((call.kind() != ActivityKind::CudaRuntime && call.kind() != ActivityKind::CudaDriver) ||
                call.correlation().value == 0)
                return;
            const auto after = std::upper_bound(ops.begin(), ops.end(), call.begin(),
                                                [](TraceTime at, const SliceBrief& op) { return at < op.begin; });
            if (after != ops.begin() && call.begin() < std::prev(after)->end())
                found.byCall.emplace(call.correlation().value,
                                     base + static_cast<std::size_t>(std::prev(after) - ops.begin()));
        });
    }
    return found;
}

/// Adds the kernels that each product launched.
void addKernels(const RuleContext& c, Products& products)
{
    struct Kind {
        bool product = false, tensorCores = false;
        Precision precision = Precision::Unknown;
    };
    NameAnswers kinds(c.trace, [](std::string_view name) {
        return Kind{isProduct(kernelClass(name)), usesTensorCores(name), kernelPrecision(name)};
    });
    for (const Track& track : c.trace.tracks())
        if (track.kind == TrackKind::Stream)
            forEachViewOf(c.trace, track.id, ActivityKind::Kernel, [&](const SliceView& kernel) {
                const auto product = products.byCall.find(kernel.correlation().value);
                if (product == products.byCall.end() || !beginsWithin(kernel.begin(), c.facts.device.window))
                    return;
                Product& of = products.all[product->second];
                of.time += kernel.duration();
                of.kernels.push_back(kernel.id());
                const Kind kind = kinds(kernel.nameId());
                if (!kind.product)
                    return;
                of.onTensorCores = of.onTensorCores || kind.tensorCores;
                if (of.precision == Precision::Unknown)
                    of.precision = kind.precision;
            });
}

/// Products of one size, and the better size.
struct Odd {
    Nanoseconds time{};
    Sizes better{};
    std::int64_t unit = 0;
    std::vector<SliceId> ops;
};

struct Found {
    Nanoseconds recorded{};                 ///< kernels of products whose sizes are known
    Nanoseconds time{};                     ///< kernels of products whose sizes are not multiples of the unit
    Nanoseconds idle{};                     ///< the part of that time that did not use tensor cores
    std::vector<std::pair<Sizes, Odd>> odd; ///< longest first
    SliceSet kernels;                       ///< kernels of products whose sizes are not multiples of the unit
};

Found oddProducts(const Products& products)
{
    Found found;
    std::map<std::pair<Sizes, std::int64_t>, Odd> odd;
    for (const Product& product : products.all) {
        if (!product.sizes || product.time.count() == 0)
            continue;
        found.recorded += product.time;
        const std::int64_t unit = unitOf(product.precision);
        const Sizes better = unit > 0 ? padded(*product.sizes, unit) : *product.sizes;
        if (better == *product.sizes || volume(better) > kMostPadding * volume(*product.sizes))
            continue;
        found.time += product.time;
        found.kernels.insert(product.kernels.begin(), product.kernels.end());
        found.idle += product.onTensorCores ? Nanoseconds{} : product.time;
        Odd& of = odd[{*product.sizes, unit}];
        of.time += product.time;
        of.better = better;
        of.unit = unit;
        of.ops.push_back(product.op);
    }
    for (auto& [key, of] : odd)
        found.odd.emplace_back(key.first, std::move(of));
    std::stable_sort(found.odd.begin(), found.odd.end(),
                     [](const auto& a, const auto& b) { return a.second.time > b.second.time; });
    return found;
}

Advice finding(const RuleContext& c, const Found& found, double share)
{
    const KernelBound bound = boundByKernels(c, found.kernels);
    if (!bound.matters())
        return offTheCriticalPath(bound);
    std::string named;
    for (std::size_t i = 0; i < std::min(kMostNamed, found.odd.size()); ++i) {
        const auto& [sizes, odd] = found.odd[i];
        named += fmt::format("{}{} → {}", i == 0 ? "" : "; ", text(sizes), text(odd.better));
    }
    if (found.odd.size() > kMostNamed)
        named += fmt::format("; and {} more", found.odd.size() - kMostNamed);
    const double idle = toUs(found.idle) / toUs(found.time);
    const profiler::MessageParameter shareOfKernels{"share", share, shareText(share)},
        unit{"unit", found.odd.front().second.unit}, list{"sizes", named}, idleShare{"idle", idle, shareText(idle)};
    Advice advice = fires(
        idle > 0.5
            ? message<"gemm.dimensions.idle", "Matmuls whose sizes are not multiples of {unit} take {share} of kernel "
                                              "time; for {idle} of that time the tensor cores are idle: {sizes}.">(
                  {shareOfKernels, unit, list, idleShare})
            : message<"gemm.dimensions.padded", "Matmuls whose sizes are not multiples of {unit} take {share} of "
                                                "kernel time; tensor cores work on padding: {sizes}.">(
                  {shareOfKernels, unit, list, idleShare}));
    setBound(advice, c, bound);
    advice.whyNoToggle = message<"gemm.dimensions.no_setting",
                                 "No setting: the sizes come from the model, the vocabulary and the batch.">();
    advice.caveats = {message<"gemm.dimensions.extra_classes",
                              "Classes added as padding must be excluded from the loss and from predictions.">(),
                      message<"gemm.dimensions.padding_costs",
                              "Padding also costs memory and compute: avoid it where it adds more than it saves.">()};
    std::vector<SliceId> evidence;
    for (const auto& [sizes, odd] : found.odd)
        evidence.push_back(odd.ops.front());
    addEvidence(advice, c.trace, evidence);
    return advice;
}

Advice check(const RuleContext& c)
{
    if (auto advice = withoutDeviceWork(
            c, message<"gemm.dimensions.cpu", "The run used only the CPU, which has no tensor cores.">()))
        return *advice;
    const KernelWork& work = c.facts.device.work;
    if (work.all.count == 0)
        return cannotTell(message<"device.no_kernels", "No kernels were recorded.">(), Need::Kernels);
    if (ranOnAmd(c))
        return silent(
            message<"gemm.dimensions.amd", "The device is an AMD GPU, whose matrix cores need other sizes.">());
    const std::optional<int> capability = computeCapability(c);
    if (capability && *capability < kFirstWithTensorCores)
        return silent(message<"gemm.dimensions.no_tensor_cores", "The device (sm_{capability}) has no tensor cores.">(
            {{"capability", *capability}}));
    if (work.share(KernelClass::Gemm) < kMinimumShare)
        return silent(message<"gemm.dimensions.small_part", "Matmuls take only {share} of kernel time.">(
            {{"share", work.share(KernelClass::Gemm), shareText(work.share(KernelClass::Gemm))}}));
    Products products = productsOf(c.trace);
    if (std::none_of(products.all.begin(), products.all.end(),
                     [](const Product& product) { return product.sizes.has_value(); }))
        return cannotTell(message<"gemm.dimensions.shapes_not_recorded", "Matmul sizes were not recorded.">(),
                          Need::Shapes);
    addKernels(c, products);
    const Found found = oddProducts(products);
    if (found.recorded.count() == 0)
        return cannotTell(message<"gemm.dimensions.kernels_not_linked",
                                  "The trace does not record which kernels each matmul launched.">(),
                          Need::KernelsAndHost);
    const double share = work.share(found.time);
    if (shareOfTime(c, share) < kMinimumShare)
        return silent(
            message<"gemm.dimensions.aligned", "Tensor-core matmuls whose sizes are not multiples of 8 (TF32: 4) take "
                                               "only {share} of the time.">(
                {{"share", shareOfTime(c, share), shareText(shareOfTime(c, share))}}));
    if (!capability)
        return cannotTell(message<"gemm.dimensions.device_unknown",
                                  "The trace does not record the GPU model: tensor cores exist from sm_70 on.">(),
                          Need::Device);
    return finding(c, found, share);
}

} // namespace

Rule gemm_dimensions()
{
    return {kKey, "Matmul sizes do not suit tensor cores", check, Needs::Steps, TimePart::Kernels};
}

} // namespace advisor::rules
