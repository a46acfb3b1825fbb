#include "profiler/formats/container/details_writer.h"

#include "profiler/formats/container/details_codec.h"
#include "profiler/formats/container/section.h"

#include <algorithm>
#include <string>
#include <utility>

namespace profiler::packed {
namespace {

/// Collects the details of consecutive slices until they fill a section.
class Sections {
public:
    Sections(PackedDetailsOfBlock& made, std::uint64_t first) : m_made(made), m_first(first) {}

    Result<void> add(SliceDetails details)
    {
        limitDetails(details);
        m_any = m_any || !details.empty();
        m_bytes += sizeOf(details);
        m_slices.push_back(std::move(details));
        return m_slices.size() >= details_limit::kSlices || m_bytes > details_limit::kBytes ? close() : Result<void>{};
    }

    Result<void> close()
    {
        const std::uint64_t first = std::exchange(m_first, m_first + m_slices.size());
        const std::vector<SliceDetails> slices = std::exchange(m_slices, {});
        m_bytes = 0;
        if (!std::exchange(m_any, false))
            return {};
        return packSection(SectionType::Details, encodeDetails(first, slices)).map([&](Bytes&& bytes) {
            m_made.sections.push_back({first, std::move(bytes)});
        });
    }

private:
    PackedDetailsOfBlock& m_made;
    std::uint64_t m_first;
    std::vector<SliceDetails> m_slices;
    std::size_t m_bytes = 0;
    bool m_any = false; ///< at least one slice has details
};

} // namespace

Result<PackedDetailsOfBlock> packDetails(const ArgSource* source, std::span<RawSlice> slices, std::uint64_t first,
                                         const std::stop_token& stop)
{
    PackedDetailsOfBlock made;
    std::vector<std::uint64_t> places;
    std::vector<std::size_t> which;
    for (std::size_t i = 0; i < slices.size(); ++i) {
        if (source && slices[i].source() != 0) {
            places.push_back(slices[i].source());
            which.push_back(i);
        }
        slices[i].setSource(0);
    }
    Sections sections(made, first);
    Result<void> done;
    std::size_t next = 0, at = 0;
    const auto take = [&](Result<SliceDetails> details) {
        const std::size_t slice = which[at++];
        for (; next < slice && done; ++next)
            done = sections.add({});
        if (!details) {
            if (made.unread++ == 0)
                made.whyUnread = details.error().message();
            details = SliceDetails{};
        }
        if (!details->empty())
            slices[slice].setSource(first + slice);
        if (done)
            done = sections.add(std::move(*details));
        ++next;
        if (stop.stop_requested())
            done = fail<"save.trace_cancelled", "saving the trace was cancelled">(Error::Code::Cancelled);
        return done.has_value();
    };
    if (!places.empty())
        source->readMany(places, take);
    if (done)
        done = sections.close();
    if (!done)
        return tl::unexpected(done.error());
    return made;
}

} // namespace profiler::packed
