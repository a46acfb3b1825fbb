#include "tests/data/numbered_dataset.h"

#include <chrono>
#include <cstdlib>
#include <future>
#include <thread>

namespace data_test {

using namespace trainer::data;

profiler::Error sampleError(std::int64_t index)
{
    return profiler::makeError<"test.broken", "broken">(profiler::Error::Code::Malformed,
                                                        "sample " + std::to_string(index));
}

profiler::Result<void> NumberedDataset::load(Split, std::int64_t index, std::uint64_t augmentSeed,
                                             const SampleOut& sample, const StageRecorder&) const
{
    ++m_begun;
    const auto out = sample.input<float>();
    // Written first, so that a sample that fails leaves its traces in the buffer.
    out[0] = static_cast<float>(index);
    out[1] = static_cast<float>(augmentSeed & 0xffff);
    out[2] = static_cast<float>((augmentSeed >> 16) & 0xffff);
    if (m_onLoad)
        if (auto failed = m_onLoad(index))
            return tl::unexpected(std::move(*failed));
    sample.setClass(index % 10);
    return {};
}

Copy copyOf(const Batch& batch, std::int64_t floats)
{
    Copy copy{.index = batch.index,
              .images = {batch.input<float>(), batch.input<float>() + batch.count * floats},
              .labels = {batch.target<std::int64_t>(), batch.target<std::int64_t>() + batch.count},
              .bad = {}};
    for (const BadSample& bad : batch.bad)
        copy.bad.push_back(bad.index);
    return copy;
}

std::vector<Copy> epochOf(Loader& loader, std::int64_t epoch, std::int64_t floats)
{
    std::vector<Copy> batches;
    loader.startEpoch(epoch);
    while (const auto batch = loader.next())
        batches.push_back(copyOf(*batch, floats));
    return batches;
}

BufferAllocator CountedMemory::allocator(bool pinned) const
{
    return {.allocate =
                [made = made, alive = alive](std::size_t bytes) {
                    ++*made;
                    ++*alive;
                    return std::shared_ptr<void>(::operator new(bytes), [alive](void* memory) {
                        ::operator delete(memory);
                        --*alive;
                    });
                },
            .pinned = pinned};
}

bool endsInTime(const std::function<void()>& work)
{
    std::promise<void> done;
    auto ended = done.get_future();
    std::thread thread([&] {
        work();
        done.set_value();
    });
    const bool inTime = ended.wait_for(std::chrono::seconds(10)) == std::future_status::ready;
    if (!inTime)
        std::abort(); // the thread cannot be ended; CTest reports the test that was running
    thread.join();
    return inTime;
}

} // namespace data_test
