#pragma once

#include "app/look/kind_palette.h"
#include "profiler/analysis/memory/memory_over_time.h"

#include <QPainter>
#include <QPixmap>
#include <QString>
#include <array>

namespace app {

using profiler::analysis::MemoryCategory;

/// All categories in the order in which they are stacked, from below.
inline constexpr std::array<MemoryCategory, profiler::analysis::kMemoryCategories> kMemoryOrder = {
    MemoryCategory::Parameters,  MemoryCategory::OptimizerState, MemoryCategory::Gradients,
    MemoryCategory::Activations, MemoryCategory::Temporaries,    MemoryCategory::Uncategorised,
    MemoryCategory::Fragmented,  MemoryCategory::Cached};

/// "Optimizer state".
QString memoryCategoryTitle(MemoryCategory category);
/// How the view knows that memory is of a category, for memory that is known from `source`; empty if such a source
/// never has it.
QString memoryCategoryRule(MemoryCategory category, profiler::analysis::MemorySource source);
/// What the trace records about the memory of a device.
QString memorySourceText(const profiler::analysis::DeviceMemory& memory);

/// The colour of a category of allocated memory: that of the part of a step that it belongs to.
SliceClass memoryClass(MemoryCategory category);
/// Fills a rectangle in the colour and pattern of a category; free memory is hatched.
void fillMemory(QPainter& painter, const QRectF& rect, MemoryCategory category, bool dark);
QPixmap memorySwatch(MemoryCategory category, bool dark);
/// The colour of text on it.
QColor memoryTextColor(MemoryCategory category, bool dark);

/// "train.py:41", or the operator and the phase, or what else is known about the place of an allocation.
QString holderTitle(const profiler::analysis::LiveBlocks& holder);
/// The title with the operator: "train.py:41 · linear".
QString holderLabel(const profiler::analysis::LiveBlocks& holder);
/// Everything known about a group of blocks, in lines.
QString holderDescription(const profiler::analysis::LiveBlocks& holder, std::int64_t allBytes);

} // namespace app
