#include "profiler/capture/injection/python_frames.h"

#include <ATen/record_function.h>
#include <atomic>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <cstdint>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <unordered_map>
#include <utility>
#include <vector>

/// Memory that LibTorch allocates for tensors of a Python program: totals that the hooks read with each sample of the
/// training thread's line, and, if requested, the exact line of each allocation (resources/python/stepscope/lines.py).
///
/// On the CPU, an allocator counts the training thread's allocations and forwards them to LibTorch's own allocator. On
/// GPUs, LibTorch's allocator keeps totals of the process, which are read. LibTorch's listener for allocations
/// (c10::MemoryReportingInfoBase) is not used, because a program that starts PyTorch's profiler expects to be its only
/// user.
#define STEPSCOPE_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Allocations {
    std::int64_t bytes = 0, count = 0;
};

using profiler::capture::injection::PythonPlace;
using profiler::capture::injection::PythonPlaceHash;
using profiler::capture::injection::UserFrames;

UserFrames& frames()
{
    static auto* s_frames = new UserFrames; // the training thread may outlive the library's variables
    return *s_frames;
}

// ---- totals ----

std::atomic<pthread_t> trainingThread{}; // the training thread; 0: nothing is counted
std::atomic<bool> isByLine{false};

bool isTrainingThread()
{
    return trainingThread.load(std::memory_order_relaxed) == pthread_self();
}

void beforeAllocation();

/// LibTorch's CPU allocator, with a count of the training thread's allocations.
class CountingAllocator final : public c10::Allocator {
public:
    c10::DataPtr allocate(std::size_t bytes) override
    {
        const bool counts = bytes > 0 && isTrainingThread();
        if (counts && isByLine.load(std::memory_order_relaxed))
            beforeAllocation();
        c10::DataPtr block = inner->allocate(bytes);
        if (counts) {
            // One thread writes at a time, so that no locked instruction is necessary.
            const Allocations before = total();
            m_bytes.store(before.bytes + static_cast<std::int64_t>(bytes), std::memory_order_relaxed);
            m_count.store(before.count + 1, std::memory_order_relaxed);
        }
        return block;
    }
    bool is_simple_data_ptr(const c10::DataPtr& block) const override { return inner->is_simple_data_ptr(block); }
    c10::DeleterFnPtr raw_deleter() const override { return inner->raw_deleter(); }
    void copy_data(void* to, const void* from, std::size_t bytes) const override { inner->copy_data(to, from, bytes); }

    [[nodiscard]] Allocations total() const
    {
        return {m_bytes.load(std::memory_order_relaxed), m_count.load(std::memory_order_relaxed)};
    }

    c10::Allocator* inner = nullptr; ///< set once, before the first allocation

private:
    std::atomic<std::int64_t> m_bytes{0}, m_count{0};
};

// Storages keep a pointer to their allocator: never deleted.
CountingAllocator& cpuAllocator()
{
    static auto* s_allocator = new CountingAllocator;
    return *s_allocator;
}

/// Totals of all devices of the process. LibTorch's totals restart when the program resets them.
class DeviceTotals {
public:
    /// Earlier allocations do not count.
    void start()
    {
        if (m_state != State::Off)
            return;
        m_state = State::On;
        (void)read();
        m_total = {};
    }
    Allocations read()
    {
        if (m_state == State::On)
            try {
                add();
            } catch (const std::exception&) { // an allocator of the program's own, which has no totals
                m_state = State::Unknown;
            }
        return m_total;
    }

private:
    void add()
    {
        auto* allocator = dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(c10::DeviceType::CUDA));
        if (!allocator || !allocator->initialized())
            return;
        if (m_before.empty())
            m_before.resize(
                static_cast<std::size_t>(c10::impl::getDeviceGuardImpl(c10::DeviceType::CUDA)->deviceCount()));
        for (std::size_t device = 0; device < m_before.size(); ++device) {
            const auto stats = allocator->getDeviceStats(static_cast<c10::DeviceIndex>(device));
            const Allocations now{stats.requested_bytes[0].allocated, stats.allocation[0].allocated};
            Allocations& before = m_before[device];
            if (now.bytes < before.bytes || now.count < before.count)
                before = {};
            m_total.bytes += now.bytes - before.bytes;
            m_total.count += now.count - before.count;
            before = now;
        }
    }

    enum class State { Off, On, Unknown };
    State m_state = State::Off;
    std::vector<Allocations> m_before; // by device
    Allocations m_total;
};

std::mutex mutex; // guards everything below; no Python code is executed and no tensor is created while it is locked
DeviceTotals devices;

Allocations readTotal()
{
    const Allocations cpu = cpuAllocator().total(), gpu = devices.read();
    return {cpu.bytes + gpu.bytes, cpu.count + gpu.count};
}

// ---- exact lines ----

/// Attributes what is allocated from the start of one operator of the training thread to the start of the next one to
/// the user's line that called the first one. Allocations of autograd's threads count for the line that started the
/// backward pass.
class ByLine {
public:
    void clear()
    {
        m_lines.clear();
        m_current = nullptr;
        m_before = readTotal();
    }
    /// Attributes what was allocated since the last call. @param place  without code: outside of the user's files
    void moveTo(const PythonPlace& place)
    {
        const Allocations now = readTotal();
        if (m_current) {
            m_current->bytes += now.bytes - m_before.bytes;
            m_current->count += now.count - m_before.count;
        }
        m_before = now;
        m_current = place.code ? &m_lines[place] : nullptr;
    }
    /// The totals so far, without the current line's last part, which follows with the next operator.
    [[nodiscard]] std::vector<std::pair<PythonPlace, Allocations>> totals() const
    {
        return {m_lines.begin(), m_lines.end()};
    }

private:
    std::unordered_map<PythonPlace, Allocations, PythonPlaceHash> m_lines;
    Allocations* m_current = nullptr;
    Allocations m_before;
};

ByLine& byLine()
{
    static auto* s_lines = new ByLine; // the training thread may outlive the library's variables
    return *s_lines;
}

/// Attributes what follows to the innermost user line of the calling thread, with the interpreter held.
void moveToCurrentPlace()
{
    PythonPlace innermost;
    frames().walk(frames().python().currentFrame(), [&](const PythonPlace& place) {
        innermost = place;
        return false;
    });
    const std::lock_guard lock(mutex);
    byLine().moveTo(innermost);
}

const at::RecordFunction* outermost = nullptr; // the training thread's outermost operator

/// An allocation outside of any operator, for example of an UntypedStorage.
void beforeAllocation()
{
    if (!outermost && frames().python().isHeld())
        moveToCurrentPlace();
}

std::unique_ptr<at::ObserverContext> opBegins(const at::RecordFunction& function)
{
    if (!isTrainingThread() || outermost)
        return nullptr;
    outermost = &function;
    const int state = frames().python().ensure();
    moveToCurrentPlace();
    frames().python().release(state);
    return nullptr;
}

void opEnds(const at::RecordFunction& function, at::ObserverContext*)
{
    if (isTrainingThread() && outermost == &function)
        outermost = nullptr;
}

at::CallbackHandle lineHandle = 0; // 0: off

} // namespace

// The functions below are called with the interpreter held.

/// Counts the allocations of the calling thread, which is the training thread, and those of the process on GPUs from
/// now on.
/// @return 0 if the program has a CPU allocator of its own that cannot be replaced
STEPSCOPE_EXPORT int stepscope_allocations_on(void)
{
    CountingAllocator& counting = cpuAllocator();
    c10::Allocator* present = c10::GetCPUAllocator();
    if (present != &counting) {
        if (counting.inner && counting.inner != present)
            return 0; // other threads may be using the previous one
        counting.inner = present;
        c10::SetCPUAllocator(&counting); // of the lowest priority, so that it does not change what the program can set
        if (c10::GetCPUAllocator() != &counting)
            return 0;
    }
    trainingThread = pthread_self();
    const std::lock_guard lock(mutex);
    devices.start();
    return 1;
}

/// @param total  receives the allocated bytes and the number of allocations since the process started to count
STEPSCOPE_EXPORT void stepscope_allocations_total(std::int64_t* total)
{
    const std::lock_guard lock(mutex);
    const Allocations now = readTotal();
    total[0] = now.bytes;
    total[1] = now.count;
}

/// Attributes the calling thread's allocations to its lines from now on.
/// @param libraries  folders without the user's files, see UserFiles
/// @return 0 if that is not possible
STEPSCOPE_EXPORT int stepscope_allocations_by_line(const char* libraries)
{
    if (!isTrainingThread() || !frames().find(libraries))
        return 0;
    {
        const std::lock_guard lock(mutex);
        byLine().clear();
    }
    outermost = nullptr;
    if (lineHandle == 0)
        lineHandle =
            at::addGlobalCallback(at::RecordFunctionCallback(opBegins, opEnds)
                                      .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION}));
    isByLine = true;
    return 1;
}

/// Passes the total of each line: its code object, its number, bytes and number of allocations.
STEPSCOPE_EXPORT void stepscope_allocations_lines(void (*take)(void*, int, std::int64_t, std::int64_t))
{
    std::vector<std::pair<PythonPlace, Allocations>> lines;
    {
        const std::lock_guard lock(mutex);
        lines = byLine().totals();
    }
    for (const auto& [place, allocated] : lines)
        take(place.code, place.line, allocated.bytes, allocated.count);
}

/// Stops counting.
STEPSCOPE_EXPORT void stepscope_allocations_off(void)
{
    if (isByLine.exchange(false)) {
        const std::lock_guard lock(mutex);
        byLine().moveTo({});
    }
    if (lineHandle != 0)
        at::removeCallback(lineHandle);
    lineHandle = 0;
    trainingThread = pthread_t{};
    CountingAllocator& counting = cpuAllocator();
    if (counting.inner && c10::GetCPUAllocator() == &counting)
        c10::SetCPUAllocator(counting.inner);
}
