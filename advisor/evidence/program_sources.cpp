#include "advisor/evidence/program_verdict.h"

#include <algorithm>
#include <array>
#include <span>

namespace advisor {
namespace {

// A card shows a few lines; more lines add no information.
constexpr std::size_t kMostPlaces = 8;

/// The objects of a program that the rules are about.
struct Subject {
    std::string_view kind;
    std::string_view role = {};      ///< for loaders
    std::string_view className = {}; ///< end of the class name; empty: any
};

struct Row {
    std::string_view key; ///< of the rule
    std::array<Subject, 3> subjects;
};

constexpr std::array kRows = {
    Row{"attention", {{{"attention"}}}},
    Row{"batch.find_max", {{{"loader", "training"}}}},
    Row{"batch.size", {{{"loader", "training"}}}},
    Row{"checkpointing", {{{"model"}}}},
    Row{"comm.buckets", {{{"data_parallel"}, {"model"}}}},
    Row{"comm.exposed", {{{"data_parallel"}, {"model"}}}},
    Row{"compile", {{{"compile"}, {"model"}}}},
    Row{"cudnn.benchmark", {{{"flag", {}, "cudnn.benchmark"}, {"model"}}}},
    Row{"data.normalize", {{{"loader", "training"}}}},
    Row{"debug.anomaly", {{{"anomaly"}}}},
    Row{"debug.autograd_profiler", {{{"profiler"}}}},
    Row{"debug.emit_nvtx", {{{"emit_nvtx"}}}},
    Row{"debug.gradcheck", {{{"flag", {}, "autograd.gradcheck"}}}},
    Row{"debug.gradgradcheck", {{{"flag", {}, "autograd.gradgradcheck"}}}},
    Row{"eval.no_grad", {{{"validation"}}}},
    Row{"fuse.pointwise", {{{"model"}}}},
    Row{"gradient.accumulation", {{{"optimizer_step"}, {"backward"}}}},
    Row{"gradient.clip_norm", {{{"clip", {}, "clip_grad_norm_"}, {"optimizer_step"}}}},
    Row{"gradient.clip_value", {{{"clip", {}, "clip_grad_value_"}, {"optimizer_step"}}}},
    Row{"host.async_work", {{{"save"}, {"log"}}}},
    Row{"host.bound", {{{"forward"}}}},
    Row{"loader.balance", {{{"loader", "training"}}}},
    Row{"loader.persistent_workers", {{{"loader", "training"}}}},
    Row{"loader.pin_memory", {{{"loader", "training"}}}},
    Row{"loader.prefetch_factor", {{{"loader", "training"}}}},
    Row{"loader.workers", {{{"loader", "training"}}}},
    Row{"memory_format", {{{"model"}}}},
    Row{"model.conv_bias", {{{"conv_bn"}}}},
    Row{"model.norm", {{{"model"}}}},
    Row{"optimizer.fused", {{{"optimizer"}}}},
    Row{"optimizer.kind", {{{"optimizer"}}}},
    Row{"optimizer.lr_scaling", {{{"optimizer"}, {"loader", "training"}}}},
    Row{"optimizer.weight_decay", {{{"optimizer"}}}},
    Row{"parallel.kind", {{{"data_parallel"}, {"model"}}}},
    Row{"precision.amp", {{{"autocast"}, {"forward"}}}},
    Row{"precision.tf32", {{{"flag", {}, "allow_tf32"}, {"flag", {}, "set_float32_matmul_precision"}, {"forward"}}}},
    Row{"schedule.kind", {{{"scheduler"}, {"optimizer"}}}},
    Row{"sync.every_n_steps", {{{"sync"}}}},
    Row{"tensors.share_memory", {{{"loader", "training"}}}},
    Row{"transfer.non_blocking", {{{"to"}}}},
    Row{"work.unused", {{{"model"}}}},
    Row{"zero_grad.set_to_none", {{{"zero_grad"}}}},
};

void add(std::vector<SourcePlace>& places, const std::optional<SourcePlace>& place, std::string_view what = {})
{
    if (!place || places.size() >= kMostPlaces)
        return;
    SourcePlace found = *place;
    if (!what.empty())
        found.what = what;
    const auto same = [&](const SourcePlace& other) { return other.file == found.file && other.line == found.line; };
    if (std::ranges::none_of(places, same))
        places.push_back(std::move(found));
}

bool fits(const ProgramObject& object, const Subject& subject)
{
    return object.kind == subject.kind && (subject.role.empty() || object.role == subject.role) &&
           object.className.ends_with(subject.className);
}

/// The place where the user sets the object's value: its own place, or that of the framework's trainer that created it
/// from its arguments.
std::optional<SourcePlace> placeOf(const ProgramObject& object, const ProgramFacts& facts)
{
    const auto arguments = object.fields.find("framework_arguments");
    if (object.framework.empty() || arguments == object.fields.end() || !arguments->is_object())
        return object.site;
    for (const auto& [name, entry] : arguments->items()) {
        const auto id = entry.is_object() ? entry.find("object") : entry.end();
        if (!entry.is_object() || id == entry.end() || !id->is_string())
            continue;
        const auto trainer = std::ranges::find(facts.objects, id->get_ref<const std::string&>(), &ProgramObject::id);
        if (trainer != facts.objects.end() && trainer->site)
            return trainer->site;
    }
    return object.site;
}

/// The objects of a subject, most used first.
void addObjects(std::vector<SourcePlace>& places, const ProgramFacts& facts, const Subject& subject)
{
    std::vector<const ProgramObject*> found;
    for (const ProgramObject& object : facts.objects)
        // A model is moved to the device once: copies in each step are those of tensors.
        if (fits(object, subject) && !(object.kind == "to" && object.className.find("Module") != std::string::npos))
            found.push_back(&object);
    std::ranges::stable_sort(found, std::ranges::greater(), &ProgramObject::count);
    for (const ProgramObject* object : found)
        add(places, placeOf(*object, facts));
}

} // namespace

std::vector<SourcePlace> sourcesOf(std::string_view key, const ProgramFacts& facts)
{
    std::vector<SourcePlace> places;
    const auto row = std::ranges::find(kRows, key, &Row::key);
    if (row == kRows.end())
        return places;
    for (const Subject& subject : row->subjects) {
        if (!places.empty() || subject.kind.empty())
            break; // the first subject that exists in the program
        if (subject.kind == "conv_bn") {
            for (const ConvolutionBeforeNorm& found : facts.convolutionsBeforeNorm)
                if (found.bias)
                    add(places, found.site, found.convolution);
        } else if (subject.kind == "attention") {
            for (const ProgramAttention& found : facts.attention)
                if (!found.fused)
                    add(places, found.site, "softmax");
        } else
            addObjects(places, facts, subject);
    }
    return places;
}

} // namespace advisor
