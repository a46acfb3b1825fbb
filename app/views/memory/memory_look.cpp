#include "app/views/memory/memory_look.h"

#include "app/look/display_text.h"
#include "app/look/kind_palette.h"

#include <QCoreApplication>
#include <QStringList>
#include <cmath>

namespace app {

namespace analysis = profiler::analysis;
using analysis::MemorySource;

namespace {

struct MemoryLook {
    Q_DECLARE_TR_FUNCTIONS(MemoryLook)
};

constexpr int kSwatch = 12;

QString ruleOfHistory(MemoryCategory category)
{
    switch (category) {
    case MemoryCategory::Parameters:
        return MemoryLook::tr(
            "Allocated while a module is built, moved to the device or loaded: the call stack contains "
            "__init__, to, cuda or load_state_dict of torch.nn. Includes buffers.");
    case MemoryCategory::OptimizerState:
        return MemoryLook::tr("Allocated within torch.optim, and kept after the update: something else allocates, or "
                              "frees it.");
    case MemoryCategory::Gradients:
        return MemoryLook::tr("Allocated by autograd's engine, and kept after the backward pass: something else "
                              "allocates, or zero_grad frees it. Recognised only in snapshots with C++ frames, which "
                              "are the default.");
    case MemoryCategory::Activations:
        return MemoryLook::tr("Allocated while a module is called, and still alive when another line allocates.");
    case MemoryCategory::Temporaries:
        return MemoryLook::tr("Freed by the part of the step that allocated it, before another part allocates; in the "
                              "forward pass, before another line allocates.");
    case MemoryCategory::Uncategorised:
        return MemoryLook::tr("No call stack, a call stack that names no part of a step, or a history that ends before "
                              "the category is known.");
    case MemoryCategory::Fragmented:
        return MemoryLook::tr("Free memory in segments that also hold allocated blocks. The allocator cannot return it "
                              "to the driver.");
    case MemoryCategory::Cached:
        return MemoryLook::tr("Free memory in segments without allocated blocks. The allocator keeps it for later.");
    }
    return {};
}

QString ruleOfTotals(MemoryCategory category)
{
    switch (category) {
    case MemoryCategory::OptimizerState:
        return MemoryLook::tr("At the peak only: allocated in the optimizer phase of an earlier step.");
    case MemoryCategory::Gradients:
        return MemoryLook::tr("At the peak only: allocated in the backward pass of an earlier step, or of a step that "
                              "has reached its optimizer.");
    case MemoryCategory::Activations:
        return MemoryLook::tr("At the peak only: allocated in the forward pass of a step that has reached its backward "
                              "pass.");
    case MemoryCategory::Uncategorised:
        return MemoryLook::tr("All other allocated memory: the trace does not record what it is used for.");
    case MemoryCategory::Cached:
        return MemoryLook::tr(
            "Reserved by PyTorch's allocator and not allocated. The trace does not record segments, so "
            "some of it may be fragmented.");
    case MemoryCategory::Parameters:
    case MemoryCategory::Temporaries:
    case MemoryCategory::Fragmented:
        break;
    }
    return {};
}

} // namespace

QString memoryCategoryTitle(MemoryCategory category)
{
    switch (category) {
    case MemoryCategory::Parameters:
        return MemoryLook::tr("Parameters");
    case MemoryCategory::OptimizerState:
        return MemoryLook::tr("Optimizer state");
    case MemoryCategory::Gradients:
        return MemoryLook::tr("Gradients");
    case MemoryCategory::Activations:
        return MemoryLook::tr("Activations");
    case MemoryCategory::Temporaries:
        return MemoryLook::tr("Temporaries");
    case MemoryCategory::Uncategorised:
        return MemoryLook::tr("Uncategorised");
    case MemoryCategory::Fragmented:
        return MemoryLook::tr("Fragmented");
    case MemoryCategory::Cached:
        return MemoryLook::tr("Cached");
    }
    return {};
}

QString memoryCategoryRule(MemoryCategory category, MemorySource source)
{
    switch (source) {
    case MemorySource::AllocatorHistory:
        return ruleOfHistory(category);
    case MemorySource::AllocatorTotals:
        return ruleOfTotals(category);
    case MemorySource::DriverTotals:
        return category == MemoryCategory::Uncategorised
                   ? MemoryLook::tr("All memory that the process holds, including what its own allocators keep free.")
                   : QString();
    }
    return {};
}

QString memorySourceText(const analysis::DeviceMemory& memory)
{
    QString text;
    switch (memory.source) {
    case MemorySource::AllocatorHistory:
        text = memory.samples.empty()
                   ? MemoryLook::tr("The snapshot contains the allocator's segments, but no history: call "
                                    "torch.cuda.memory._record_memory_history() before the part to record.")
               : memory.hasStacks ? MemoryLook::tr("The snapshot contains each allocation with its call stack.")
                                  : MemoryLook::tr("The snapshot contains each allocation, but no call stacks: record "
                                                   "it with context=\"all\".");
        break;
    case MemorySource::AllocatorTotals:
        text =
            !memory.hasEvents
                ? MemoryLook::tr("The trace contains the totals of PyTorch's allocator after each allocation. A memory "
                                 "snapshot shows what the memory is used for.")
            : memory.hasStacks
                ? MemoryLook::tr("The trace contains each allocation during the recording. A holder is the operator "
                                 "and the Python function that ran on its thread; the line is where the function "
                                 "starts.")
                : MemoryLook::tr("The trace contains each allocation during the recording. A holder is the operator "
                                 "that ran on its thread; with_stack=True also records the Python function.");
        if (memory.hasEvents)
            text += u' ' + MemoryLook::tr("For memory that was allocated earlier, the trace records no holder.");
        break;
    case MemorySource::DriverTotals:
        text = MemoryLook::tr("The trace contains what the process got from the CUDA driver (cudaMalloc).");
        break;
    }
    if (memory.sinceBegin)
        text += u' ' + MemoryLook::tr("Memory that was allocated before the recording began is missing.");
    return text;
}

SliceClass memoryClass(MemoryCategory category)
{
    switch (category) {
    case MemoryCategory::Parameters:
        return SliceClass::Annotation;
    case MemoryCategory::OptimizerState:
        return SliceClass::Optimizer;
    case MemoryCategory::Gradients:
        return SliceClass::Backward;
    case MemoryCategory::Activations:
        return SliceClass::Forward;
    case MemoryCategory::Temporaries:
        return SliceClass::Compute;
    case MemoryCategory::Uncategorised:
        return SliceClass::Other;
    case MemoryCategory::Fragmented:
    case MemoryCategory::Cached:
        break;
    }
    return SliceClass::Idle;
}

void fillMemory(QPainter& painter, const QRectF& rect, MemoryCategory category, bool dark)
{
    fillAs(painter, rect, memoryClass(category), dark);
    if (category != MemoryCategory::Fragmented)
        return;
    // A second direction of lines distinguishes it from cached memory.
    constexpr int kPeriod = 8;
    painter.save();
    painter.setClipRect(rect, Qt::IntersectClip);
    painter.setRenderHint(QPainter::Antialiasing, true);
    painter.setPen(QPen(classStyle(SliceClass::Overhead, dark).fill, 1.2));
    const double height = rect.height();
    for (double x = std::floor((rect.left() - rect.bottom()) / kPeriod) * kPeriod + rect.top(); x < rect.right();
         x += kPeriod)
        painter.drawLine(QPointF(x, rect.top()), QPointF(x + height, rect.bottom()));
    painter.restore();
}

QPixmap memorySwatch(MemoryCategory category, bool dark)
{
    constexpr double kRatio = 2;
    QPixmap pixmap(int(kSwatch * kRatio), int(kSwatch * kRatio));
    pixmap.setDevicePixelRatio(kRatio);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    fillMemory(painter, QRectF(0, 0, kSwatch, kSwatch), category, dark);
    painter.setPen(classStyle(memoryClass(category), dark).edge);
    painter.drawRect(QRectF(0, 0, kSwatch - 1, kSwatch - 1));
    return pixmap;
}

QColor memoryTextColor(MemoryCategory category, bool dark)
{
    return classStyle(memoryClass(category), dark).text;
}

QString holderTitle(const analysis::LiveBlocks& holder)
{
    if (holder.rest)
        return MemoryLook::tr("All smaller groups");
    if (holder.unrecorded)
        return MemoryLook::tr("Allocated before the recording");
    if (!holder.place.empty()) {
        const std::size_t folder = holder.place.file.rfind('/');
        return asQString(holder.place.file.substr(folder == std::string::npos ? 0 : folder + 1)) + u':' +
               QString::number(holder.place.line);
    }
    if (!holder.op.empty())
        return asQString(holder.op);
    return holder.phase.empty() ? MemoryLook::tr("Not recorded")
                                : MemoryLook::tr("Outside operators, in %1").arg(asQString(holder.phase));
}

QString holderLabel(const analysis::LiveBlocks& holder)
{
    return holder.place.empty() || holder.op.empty()
               ? holderTitle(holder)
               : holderTitle(holder) + QStringLiteral(" · ") + shortName(holder.op);
}

QString holderDescription(const analysis::LiveBlocks& holder, std::int64_t allBytes)
{
    QStringList lines{holderTitle(holder)};
    if (!holder.place.empty())
        lines << asQString(holder.place.file) + u':' + QString::number(holder.place.line) +
                     (holder.place.function.empty() ? QString() : u' ' + asQString(holder.place.function));
    if (!holder.place.empty() && !holder.op.empty())
        lines << asQString(holder.op);
    if (holder.unrecorded)
        lines << MemoryLook::tr("The trace does not record what holds it: start the recording earlier.");
    else if (!holder.rest)
        lines << memoryCategoryTitle(holder.category);
    if (!holder.phase.empty())
        lines << (holder.step ? MemoryLook::tr("%1, step %2").arg(asQString(holder.phase)).arg(*holder.step)
                              : asQString(holder.phase));
    QString size = formatBytes(static_cast<double>(holder.bytes));
    if (allBytes > 0)
        size +=
            QStringLiteral(" (%1)").arg(formatShare(static_cast<double>(holder.bytes) / static_cast<double>(allBytes)));
    if (holder.blocks > 0)
        size += MemoryLook::tr(" in %1").arg(
            formatCounted(holder.blocks, MemoryLook::tr("block"), MemoryLook::tr("blocks")));
    lines << size;
    return lines.join('\n');
}

} // namespace app
