#include "tests/support/allocator_trace.h"

namespace test_support {

using namespace profiler;

/// Call stacks by number, as the importer keeps them.
class AllocatorTrace::Stacks final : public ArgSource {
public:
    std::uint64_t add(const std::string& text)
    {
        if (text.empty())
            return 0;
        m_texts.push_back(text);
        return m_texts.size();
    }
    [[nodiscard]] Result<SliceDetails> read(std::uint64_t source) const override
    {
        return SliceDetails{{"Call stack", m_texts.at(source - 1)}};
    }

private:
    std::vector<std::string> m_texts;
};

AllocatorTrace::AllocatorTrace() : m_stacks(std::make_shared<Stacks>()) {}

AllocatorTrace& AllocatorTrace::event(const std::string& action, std::uint64_t address, std::int64_t bytes,
                                      const std::string& stack)
{
    SliceArgs args;
    args.bytes = bytes;
    args.value = static_cast<std::int64_t>(address);
    RawSlice slice;
    slice.begin = ++m_us * 1000;
    slice.name = m_builder.intern(action + (stack.empty() ? "" : " train.py:1")).value;
    slice.args = m_builder.internArgs(args);
    slice.setSource(m_stacks->add(stack));
    m_slices.push_back(slice);
    return *this;
}

AllocatorTrace& AllocatorTrace::segments(const std::string& lines)
{
    m_segments = lines;
    return *this;
}

AllocatorTrace& AllocatorTrace::before(double allocated, double reserved)
{
    m_before = {allocated, reserved};
    return *this;
}

std::shared_ptr<const Trace> AllocatorTrace::trace()
{
    m_builder.setFormat("pytorch-memory");
    Track track;
    track.kind = TrackKind::Stream;
    track.name = "allocator";
    track.device = DeviceId{0};
    m_builder.addMany(m_builder.addTrack(track), std::move(m_slices), Depth::Inferred);
    const std::pair<const char*, double> totals[] = {{"GPU 0 memory allocated", m_before.first},
                                                     {"GPU 0 memory reserved", m_before.second}};
    for (const auto& [name, value] : totals) {
        Track counter;
        counter.kind = TrackKind::Counter;
        counter.name = name;
        counter.unit = "bytes";
        m_builder.addSamples(m_builder.addTrack(counter), {{traceTime(1000), value}}, SampleMeaning::Value);
    }
    m_builder.setMetadata("memory.segments.gpu0", m_segments);
    m_builder.setArgSource(m_stacks);
    return m_builder.finish();
}

} // namespace test_support
