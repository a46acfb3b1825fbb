#include "app/views/flame/call_frames.h"

#include "app/look/number_format.h"
#include "app/look/qstring.h"
#include "app/look/short_name.h"
#include "app/look/timeline_theme.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

namespace app {

namespace analysis = profiler::analysis;

namespace {

constexpr double kLeastTextShare = 0.005;

QString tr(const char* text)
{
    return QCoreApplication::translate("CallFrames", text);
}

void setNames(CallFrames& frames, const std::vector<std::string>& names)
{
    if (names.empty())
        return;
    frames.names.clear();
    frames.labels.clear();
    for (const std::string& name : names) {
        frames.names.push_back(asQString(name));
        frames.labels.push_back(shortName(name));
    }
}

/// Places the frames next to each other, children inside their parents, and counts depths.
void place(CallFrames& frames)
{
    for (std::size_t i = 1; i < frames.frames.size(); ++i) {
        CallFrame& frame = frames.frames[i];
        CallFrame& parent = frames.frames[frame.parent];
        frame.depth = parent.depth + 1;
        frame.begin = parent.begin + parent.inner;
        parent.inner += frame.weight;
    }
    frames.labels[frames.frames.front().name] = frames.names[frames.frames.front().name] =
        frames.sampledEvery.count() > 0
            ? tr("All calls, sampled every %1").arg(formatUs(analysis::toUs(frames.sampledEvery)))
            : tr("All calls");
}

} // namespace

CallFrames framesOf(const analysis::CallTree& tree)
{
    CallFrames frames;
    setNames(frames, tree.names);
    frames.steps = tree.steps;
    frames.sampledEvery = tree.sampledEvery;
    frames.frames.clear();
    for (const analysis::CallNode& node : tree.nodes) {
        CallFrame frame;
        frame.parent = node.parent;
        frame.end = node.end;
        frame.name = node.name;
        frame.self = static_cast<double>(node.self.count());
        frame.total = frame.weight = static_cast<double>(node.total.count());
        frame.calls = static_cast<double>(node.calls);
        if (!tree.names.empty())
            frame.color = classify(node.kind, tree.name(node));
        if (node.longestTime.count() >= 0)
            frame.longest = node.longest;
        frames.frames.push_back(frame);
    }
    place(frames);
    return frames;
}

CallFrames framesOf(const analysis::CallDifference& difference)
{
    CallFrames frames;
    setNames(frames, difference.names);
    frames.isDifference = true;
    frames.perStep = difference.perStep;
    frames.frames.clear();
    for (const analysis::CallChange& node : difference.nodes) {
        CallFrame frame;
        frame.parent = node.parent;
        frame.end = node.end;
        frame.name = node.name;
        frame.weight = node.weight();
        frame.self = node.selfB;
        frame.total = node.totalB;
        frame.totalOther = node.totalA;
        frame.calls = node.callsB;
        frame.callsOther = node.callsA;
        if (node.longestTimeB.count() >= 0)
            frame.longest = node.longestB;
        frames.frames.push_back(frame);
    }
    place(frames);
    return frames;
}

CallFrames framesOf(const std::vector<analysis::CallTotal>& totals, const analysis::CallTree& tree)
{
    CallFrames frames;
    setNames(frames, {std::string()});
    frames.steps = tree.steps;
    frames.sampledEvery = tree.sampledEvery;
    frames.frames.front().total = static_cast<double>(tree.total().count());
    frames.frames.front().end = static_cast<std::uint32_t>(totals.size() + 1);
    for (const analysis::CallTotal& total : totals) {
        CallFrame frame;
        frame.end = static_cast<std::uint32_t>(frames.frames.size() + 1);
        frame.name = static_cast<std::uint32_t>(frames.names.size());
        frame.self = static_cast<double>(total.self.count());
        frame.total = static_cast<double>(total.total.count());
        frame.calls = static_cast<double>(total.calls);
        frame.color = classify(total.kind, total.name);
        if (total.longestTime.count() >= 0)
            frame.longest = total.longest;
        frames.names.push_back(asQString(total.name));
        frames.labels.push_back(shortName(total.name));
        frames.frames.push_back(frame);
    }
    place(frames);
    return frames;
}

QString callCountText(double calls)
{
    const double whole = std::round(calls);
    return std::abs(calls - whole) < 1e-6 ? formatCount(static_cast<std::int64_t>(whole)) : formatSignificant(calls);
}

double changeOf(const CallFrame& frame)
{
    const double most = std::max(frame.total, frame.totalOther);
    return most > 0 ? (frame.total - frame.totalOther) / most : 0;
}

QColor changeColor(double change, bool dark)
{
    // Okabe and Ito's blue and vermilion, around a neutral grey.
    const QColor middle = dark ? QColor(0x4A, 0x4D, 0x52) : QColor(0xE4, 0xE4, 0xE2);
    const QColor end = change < 0 ? (dark ? QColor(0x56, 0xB4, 0xE9) : QColor(0x00, 0x72, 0xB2))
                                  : (dark ? QColor(0xF0, 0x8A, 0x3C) : QColor(0xD5, 0x5E, 0x00));
    return mixed(middle, end, std::clamp(std::abs(change) * 1.6, 0.0, 1.0)); // half as long again is almost at the end
}

QString asText(const CallFrames& frames)
{
    QStringList lines;
    const double all = std::max(frames.frames.front().total, frames.frames.front().totalOther);
    for (std::size_t i = 1; i < frames.frames.size(); ++i) {
        const CallFrame& frame = frames.frames[i];
        if (std::max(frame.total, frame.totalOther) < kLeastTextShare * all)
            continue;
        QString line = QString(2 * static_cast<qsizetype>(frame.depth - 1), ' ') + frames.name(frame);
        if (frames.isDifference)
            line += QStringLiteral("\t%1\t%2").arg(formatUs(frame.totalOther / 1000), formatUs(frame.total / 1000));
        else
            line += QStringLiteral("\t%1\t%2\t%3\t%4")
                        .arg(formatUs(frame.total / 1000), formatShare(frames.share(frame)),
                             formatUs(frame.self / 1000), formatCount(static_cast<std::int64_t>(frame.calls)));
        lines << line;
    }
    return lines.join('\n') + '\n';
}

} // namespace app
