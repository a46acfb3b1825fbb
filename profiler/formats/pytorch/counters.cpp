#include "profiler/formats/pytorch/counters.h"
#include "profiler/formats/pytorch/values.h"

#include <charconv>
#include <utility>

namespace profiler::formats::json {

bool CounterArgs::read(std::string_view json)
{
    Values reader;
    reader.end = json.data() + json.size();
    numbers.clear();
    count = 0;
    bool fits = true;
    forEachEntry(json, reader, [&](std::string_view key, std::string_view value) {
        ++count;
        if (!isDigit(value[value.front() == '-']))
            return;
        double number = 0;
        fits = std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{} && fits;
        numbers.emplace_back(unescaped(key), number);
    });
    return fits && (reader.odd & ~Event::kBadUtf8) == 0;
}

void CounterSeries::add(SharedBuild& shared, const std::vector<Sample>& samples)
{
    Key last;
    Series* series = nullptr;
    for (const Sample& sample : samples) {
        if (const Key key{sample.rowId, sample.name, sample.isChange}; !series || key != last) {
            series = &m_series[key];
            last = key;
        }
        series->isBytes = sample.isBytes;
        series->samples.push_back(sample.sample);
    }
    for (auto& [key, some] : m_series) {
        if (some.samples.empty())
            continue;
        if (!some.track) // hidden until finish() gives it a name
            some.track = shared.builder.addTrack({});
        shared.builder.addSamples(*some.track, std::exchange(some.samples, {}),
                                  std::get<2>(key) ? SampleMeaning::Change : SampleMeaning::Value);
    }
}

void CounterSeries::finish(SharedBuild& shared, const Processes& processes,
                           const std::map<std::string, std::string>& units)
{
    for (auto& [key, series] : m_series) {
        const auto& [rowId, name, isChange] = key;
        Track counter;
        counter.kind = TrackKind::Counter;
        counter.name = shared.builder.string(StringId{name});
        const RowInfo& row = shared.rowInfos[rowId];
        if (const auto process = processes.find({row.key.process, row.key.processIsText}); process != processes.end()) {
            counter.pid = process->second.pid;
            counter.processName = process->second.name;
            counter.processSortIndex = process->second.sortIndex;
        }
        const auto unit = units.find(counter.name);
        counter.unit = unit != units.end() ? unit->second : series.isBytes ? "bytes" : "";
        if (series.track)
            shared.builder.updateTrack(*series.track, std::move(counter));
    }
    m_series.clear();
}

} // namespace profiler::formats::json
