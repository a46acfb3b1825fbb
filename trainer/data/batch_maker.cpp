#include "trainer/data/batch_maker.h"

#include "profiler/model/activity.h"
#include "trainer/data/random.h"
#include "trainer/data/stage_timer.h"

#include <algorithm>
#include <exception>
#include <numeric>

namespace trainer::data {

StageRecorder stagesOn(profiler::capture::ThreadBuffer* buffer)
{
    if (!buffer)
        return {};
    return {.buffer = buffer,
            .read = buffer->intern(profiler::stage::kRead),
            .decode = buffer->intern(profiler::stage::kDecode),
            .augment = buffer->intern(profiler::stage::kAugment),
            .collate = buffer->intern(profiler::stage::kCollate),
            .pin = buffer->intern(profiler::stage::kPin)};
}

namespace {

/// Samples of this rank.
std::int64_t samplesOf(const LoaderOptions& options, const Dataset& dataset)
{
    const std::int64_t all = dataset.size(options.split),
                       more = options.equalRanks ? 0 : options.ranks - 1 - options.rank;
    return (all + more) / options.ranks;
}

} // namespace

BatchMaker::BatchMaker(std::shared_ptr<const Dataset> dataset, const LoaderOptions& options)
    : m_dataset(std::move(dataset)), m_split(options.split), m_batchSize(std::max<std::int64_t>(options.batchSize, 1)),
      m_whole(options.wholeImages), m_rank(options.rank), m_ranks(options.ranks),
      m_samples(samplesOf(options, *m_dataset)),
      m_copies(m_dataset->isStream() && !options.shardStreams ? std::max(options.workers, 1) : 1),
      m_shuffle(options.shuffle && !m_dataset->isStream()), m_augment(options.augment), m_pinned(options.memory.pinned),
      m_seed(options.seed)
{
    // A batch larger than the dataset needs no more memory than the dataset.
    const auto most = static_cast<std::size_t>(std::min(m_batchSize, std::max<std::int64_t>(m_samples, 1)));
    m_pool = std::make_shared<BatchPool>(options.memory, m_dataset->spec(), most);
}

std::int64_t BatchMaker::batches() const
{
    return (m_samples + m_batchSize - 1) / m_batchSize * m_copies;
}

void BatchMaker::setEpoch(std::int64_t epoch)
{
    m_epoch = epoch;
    if (!m_shuffle)
        return;
    // The order is common to all ranks: each takes its own part.
    m_order.resize(static_cast<std::size_t>(m_dataset->size(m_split)));
    std::iota(m_order.begin(), m_order.end(), std::int64_t{0});
    Random random(orderSeed(m_seed, epoch));
    shuffle(std::span(m_order), random);
}

std::int64_t BatchMaker::sampleAt(std::int64_t position) const
{
    const std::int64_t place = position * m_ranks + m_rank;
    return m_shuffle ? m_order[static_cast<std::size_t>(place)] : place;
}

profiler::Result<void> BatchMaker::load(std::int64_t index, const SampleOut& out, const StageRecorder& stages) const
{
    const auto failed = [](const std::string& why) {
        return profiler::fail<"data.sample.failed", "{why}">(profiler::Error::Code::Io, {}, {}, {{"why", why}});
    };
    try {
        const std::uint64_t seed = !m_augment ? 0 : m_whole ? kWholeImage : sampleSeed(m_seed, m_epoch, index);
        return m_dataset->load(m_split, index, seed, out, stages);
    } catch (const std::exception& thrown) {
        return failed(std::string("the sample could not be loaded: ") + thrown.what());
    } catch (...) {
        return failed("the sample could not be loaded: unknown exception");
    }
}

SampleOut BatchMaker::place(const Batch& batch, std::int64_t position) const
{
    const SampleSpec& spec = m_dataset->spec();
    const auto at = [&](std::byte* first, const ArraySpec& array) {
        const std::size_t bytes = array.bytes();
        return std::span(first + static_cast<std::size_t>(position) * bytes, bytes);
    };
    SampleOut out;
    for (std::size_t i = 0; i < spec.inputs.size(); ++i)
        out.inputs[i] = at(batch.memory->inputs[i], spec.inputs[i]);
    out.target = at(batch.memory->target, spec.target);
    return out;
}

std::shared_ptr<BatchBuffer> BatchMaker::acquire(std::int64_t number, const StageRecorder& stages) const
{
    if (!m_pinned)
        return m_pool->acquire();
    // Samples are decoded directly into page-locked memory: pinning only costs the allocation of that memory, not a
    // copy.
    const StageTimer timer(stages, stages.pin, number);
    return m_pool->acquire();
}

std::optional<Batch> BatchMaker::make(std::int64_t number, const StageRecorder& stages,
                                      const std::function<bool()>& mayContinue) const
{
    Batch batch;
    batch.index = number;
    batch.pinned = m_pinned;
    batch.memory = acquire(number, stages);

    const std::int64_t begin = number / m_copies * m_batchSize;
    const std::int64_t end = std::min(begin + m_batchSize, m_samples);
    for (std::int64_t position = begin; position < end; ++position) {
        if (!mayContinue())
            return std::nullopt;
        const std::int64_t index = sampleAt(position);
        // The next sample overwrites a sample that failed.
        if (const auto loaded = load(index, place(batch, batch.count), stages))
            ++batch.count;
        else
            batch.bad.push_back({index, loaded.error().asMessage()});
    }
    // The samples are already in place, so collating only has to return the batch.
    const StageTimer timer(stages, stages.collate, number);
    return batch;
}

} // namespace trainer::data
