#pragma once

#include "profiler/model/trace.h"

#include <QPointF>
#include <optional>

namespace app {

struct TimelineScene;

// What is at a position of the canvas, in logical pixels. Nothing of an empty scene.

/// The slice at a position, or the nearest one of the same lane within a few pixels.
[[nodiscard]] std::optional<profiler::Slice> sliceAt(const TimelineScene& scene, QPointF at);
/// The row at a height, in the tracks and in their headers; −1: none.
[[nodiscard]] int rowAt(const TimelineScene& scene, double y);
/// The resizable row whose lower edge is at a position in the header; −1: none.
[[nodiscard]] int rowWithEdgeAt(const TimelineScene& scene, QPointF at);
/// True at the edge between headers and tracks, where the headers can be resized.
[[nodiscard]] bool isHeaderEdgeAt(const TimelineScene& scene, QPointF at);

} // namespace app
