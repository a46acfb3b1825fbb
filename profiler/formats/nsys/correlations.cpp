#include "profiler/formats/nsys/export_rows.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace profiler::formats::nsys {

namespace {

/// Ids have 32 bits and restart after the last one. No process makes that many calls in an hour.
constexpr std::int64_t kSoonestReuse = 3600;

struct Repeats {
    std::uint64_t count = 0, first = 0;

    void add(std::uint64_t place) { first = count++ == 0 ? place : std::min(first, place); }
    void report(Losses& losses, Loss loss) const
    {
        const Place place = placeFrom(first);
        losses.add(loss, tableOf(place.source), place.row, count);
    }
};

/// Counts device work whose call is not in the file, if the file has calls at all. `called` must be sorted.
void countUnmatched(Import& import)
{
    if (import.called.empty())
        return;
    const auto before = [](const Call& call, std::int64_t link) { return call.link < link; };
    for (const Work& work : import.worked) {
        const auto call = std::lower_bound(import.called.begin(), import.called.end(), work.link, before);
        if (work.link == 0 || (call != import.called.end() && call->link == work.link))
            continue;
        const Place place = placeFrom(work.place);
        import.losses.add(Loss::NoLaunch, tableOf(place.source), place.row);
    }
}

} // namespace

void checkCorrelations(Import& import)
{
    auto& called = import.called;
    auto& worked = import.worked;
    std::sort(called.begin(), called.end(), [](const Call& a, const Call& b) {
        return std::tuple(a.link, +a.driver, +a.place) < std::tuple(b.link, +b.driver, +b.place);
    });
    Repeats shared, doubled;
    for (std::size_t i = 1; i < called.size(); ++i) {
        const Call &last = called[i - 1], &call = called[i];
        const auto apart = static_cast<std::int64_t>(call.second) - static_cast<std::int64_t>(last.second);
        if (call.link == last.link && call.driver == last.driver && std::abs(apart) < kSoonestReuse)
            shared.add(call.place);
    }
    shared.report(import.losses, Loss::SharedCall);
    countUnmatched(import);
    std::sort(worked.begin(), worked.end(),
              [](const Work& a, const Work& b) { return std::tie(a.print, a.place) < std::tie(b.print, b.place); });
    for (std::size_t i = 1; i < worked.size(); ++i)
        if (worked[i].print == worked[i - 1].print)
            doubled.add(worked[i].place);
    doubled.report(import.losses, Loss::Doubled);
}

} // namespace profiler::formats::nsys
