#include "trainer/hooks/memory_hook.h"

#include "profiler/capture/allocation_ledger.h"

#include <array>
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <mutex>
#include <string>

namespace trainer {

using namespace profiler;

namespace {

constexpr std::size_t kDevices = 17; ///< the CPU and sixteen GPUs; further devices are not reported
constexpr std::size_t kMostAlive = 40;

std::size_t placeOf(const c10::Device& device)
{
    if (device.is_cpu())
        return 0;
    return device.is_cuda() && device.index() >= 0 ? static_cast<std::size_t>(device.index()) + 1 : kDevices;
}

std::string keyOf(std::size_t place)
{
    return place == 0 ? "cpu" : "gpu" + std::to_string(place - 1);
}

std::string nameOf(std::size_t place)
{
    return place == 0 ? "CPU" : "GPU " + std::to_string(place - 1);
}

} // namespace

/// LibTorch keeps it in a shared pointer and calls it on the allocating thread.
struct MemoryHook::State {
    class Reporter;
    struct Place {
        std::uint32_t allocated = 0, reserved = 0; ///< counters; 0: not created yet
        capture::AllocationLedger ledger;
    };

    explicit State(capture::Recorder& to) : recorder(to), training(to.thisThread()) {}
    void took(void* at, std::int64_t bytes, std::size_t allocated, std::size_t reserved, std::size_t place);
    void ranOut(std::int64_t bytes, std::size_t place);
    [[nodiscard]] capture::AllocationOrigin originOn(const capture::ThreadBuffer& buffer) const;
    [[nodiscard]] std::string lineOf(const capture::AllocationLedger::Alive& alive) const;
    void writePeak(const std::string& key, const capture::AllocationLedger::Peak& peak);
    void end();

    capture::Recorder& recorder;
    capture::ThreadBuffer& training; ///< the buffer of the thread that created the hook
    std::array<Place, kDevices> places;
    std::array<std::once_flag, kDevices> made;
    std::unique_ptr<c10::DebugInfoGuard> guard;
};

class MemoryHook::State::Reporter : public c10::MemoryReportingInfoBase {
public:
    explicit Reporter(State& state) : m_state(state) {}
    void reportMemoryUsage(void* at, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                           c10::Device device) override
    {
        if (const std::size_t place = placeOf(device); place < kDevices)
            m_state.took(at, bytes, allocated, reserved, place);
    }
    void reportOutOfMemory(std::int64_t bytes, std::size_t, std::size_t, c10::Device device) override
    {
        if (const std::size_t place = placeOf(device); place < kDevices)
            m_state.ranOut(bytes, place);
    }
    [[nodiscard]] bool memoryProfilingEnabled() const override { return true; }

private:
    State& m_state;
};

void MemoryHook::State::took(void* at, std::int64_t bytes, std::size_t allocated, std::size_t reserved,
                             std::size_t place)
{
    Place& to = places[place];
    std::call_once(made[place], [&] {
        to.allocated = recorder.addCounter(nameOf(place) + " memory allocated", "bytes");
        if (place != 0)
            to.reserved = recorder.addCounter(nameOf(place) + " memory reserved", "bytes");
    });
    capture::ThreadBuffer& buffer = recorder.thisThread();
    if (bytes >= 0)
        to.ledger.allocated(at, bytes, originOn(buffer));
    else
        to.ledger.freed(at);
    const TraceTime now = TraceClock::now();
    // The CPU allocator does not always know its total; our total starts with the recording.
    buffer.sample(to.allocated, now,
                  static_cast<double>(place == 0 ? to.ledger.bytes() : static_cast<std::int64_t>(allocated)));
    if (place != 0)
        buffer.sample(to.reserved, now, static_cast<double>(reserved));
}

/// Autograd threads have no phases; they work in the phase of the training thread.
capture::AllocationOrigin MemoryHook::State::originOn(const capture::ThreadBuffer& buffer) const
{
    const capture::ThreadBuffer::Place own = buffer.place();
    const capture::ThreadBuffer::Place outer = own.step < 0 && own.phase == 0 ? training.publishScope() : own;
    return {own.op, outer.phase, outer.step};
}

std::string MemoryHook::State::lineOf(const capture::AllocationLedger::Alive& alive) const
{
    const auto name = [&](std::uint32_t id) { return id == 0 ? std::string("-") : recorder.text(id); };
    const std::string step = alive.by.step < 0 ? "-" : std::to_string(alive.by.step);
    return std::to_string(alive.bytes) + '\t' + std::to_string(alive.blocks) + '\t' + step + '\t' +
           name(alive.by.phase) + '\t' + name(alive.by.op) + '\n';
}

void MemoryHook::State::writePeak(const std::string& key, const capture::AllocationLedger::Peak& peak)
{
    std::string alive;
    std::int64_t restBytes = 0, restBlocks = 0;
    for (std::size_t i = 0; i < peak.alive.size(); ++i) {
        if (i < kMostAlive) {
            alive += lineOf(peak.alive[i]);
        } else {
            restBytes += peak.alive[i].bytes;
            restBlocks += peak.alive[i].blocks;
        }
    }
    if (restBlocks > 0)
        alive += std::to_string(restBytes) + '\t' + std::to_string(restBlocks) + "\trest\trest\trest\n";
    recorder.setMetadata(key, std::to_string(peak.bytes));
    recorder.setMetadata(key + ".alive", alive);
}

void MemoryHook::State::ranOut(std::int64_t bytes, std::size_t place)
{
    recorder.setMetadata("memory.out." + keyOf(place) + ".asked", std::to_string(bytes));
    writePeak("memory.out." + keyOf(place), places[place].ledger.now());
}

void MemoryHook::State::end()
{
    guard.reset();
    for (std::size_t place = 0; place < kDevices; ++place)
        if (const auto peak = places[place].ledger.peak(); peak.bytes > 0)
            writePeak("memory.peak." + keyOf(place), peak);
}

MemoryHook::MemoryHook(capture::Recorder& recorder) : m(std::make_unique<State>(recorder))
{
    m->guard = std::make_unique<c10::DebugInfoGuard>(c10::DebugInfoKind::PROFILER_STATE,
                                                     std::make_shared<State::Reporter>(*m));
}

MemoryHook::~MemoryHook()
{
    m->end();
}

} // namespace trainer
