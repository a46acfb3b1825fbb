#include "profiler/io/formats/json/counter_series.h"

#include <algorithm>

namespace profiler::formats::json {

void CounterSeries::add(const std::vector<Sample>& samples)
{
    Key last;
    Series* series = nullptr;
    for (const Sample& sample : samples) {
        if (const Key key{sample.lane, sample.name, sample.isChange}; !series || key != last) {
            series = &m_series[key];
            last = key;
        }
        series->isBytes = sample.isBytes;
        series->inOrder = series->inOrder && sample.sample.time >= series->last;
        series->last = std::max(series->last, sample.sample.time);
        series->samples.push_back(sample.sample);
    }
}

void CounterSeries::finish(SharedBuild& shared, const Processes& processes,
                           const std::map<std::string, std::string>& units)
{
    for (auto& [key, series] : m_series) {
        const auto& [laneNumber, name, isChange] = key;
        Track counter;
        counter.kind = TrackKind::Counter;
        counter.name = shared.builder.string(StringId{name});
        const LaneInfo& lane = shared.lanes[laneNumber];
        if (const auto process = processes.find({lane.key.process, lane.key.processIsText});
            process != processes.end()) {
            counter.pid = process->second.pid;
            counter.processName = process->second.name;
            counter.processSortIndex = process->second.sortIndex;
        }
        const auto unit = units.find(counter.name);
        counter.unit = unit != units.end() ? unit->second : series.isBytes ? "bytes" : "";
        const TrackId track = shared.builder.addTrack(std::move(counter));
        if (!series.inOrder)
            std::stable_sort(series.samples.begin(), series.samples.end(),
                             [](const CounterSample& a, const CounterSample& b) { return a.time < b.time; });
        double sum = 0;
        for (; !series.samples.empty(); series.samples.pop_front()) {
            const CounterSample& sample = series.samples.front();
            sum = isChange ? sum + sample.value : sample.value;
            shared.builder.addSample(track, {sample.time, sum});
        }
    }
    m_series.clear();
}

} // namespace profiler::formats::json
