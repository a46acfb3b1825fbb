#include <ATen/record_function.h>
#include <algorithm>
#include <array>
#include <atomic>
#include <c10/core/CPUAllocator.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <memory>
#include <mutex>
#include <pthread.h>
#include <string>
#include <string_view>
#include <type_traits>
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

// ---- the interpreter; no header of Python, because one library serves all of its versions ----

struct Object;

/// Functions of Python's C interface, unchanged since Python 3.9. They execute no Python code.
struct Interpreter {
    int (*ensure)() = nullptr;
    void (*release)(int) = nullptr;
    void* (*ownState)() = nullptr;
    void* (*activeState)() = nullptr;
    Object* (*currentFrame)() = nullptr; // borrowed
    Object* (*caller)(Object* frame) = nullptr;
    Object* (*codeOf)(Object* frame) = nullptr;
    int (*lineOf)(Object* frame) = nullptr;
    Object* (*attribute)(Object*, const char*) = nullptr;
    const char* (*text)(Object*) = nullptr;
    void (*fetchError)(Object**, Object**, Object**) = nullptr;
    void (*restoreError)(Object*, Object*, Object*) = nullptr;
    void (*clearError)() = nullptr;
    void (*retain)(Object*) = nullptr;
    void (*drop)(Object*) = nullptr;

    /// @return false if the process has no such interpreter
    bool find()
    {
        const auto get = [](auto& function, const char* name) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(RTLD_DEFAULT, name));
            return function != nullptr;
        };
        return get(ensure, "PyGILState_Ensure") && get(release, "PyGILState_Release") &&
               get(ownState, "PyGILState_GetThisThreadState") &&
               (get(activeState, "PyThreadState_GetUnchecked") || get(activeState, "_PyThreadState_UncheckedGet")) &&
               get(currentFrame, "PyEval_GetFrame") && get(caller, "PyFrame_GetBack") &&
               get(codeOf, "PyFrame_GetCode") && get(lineOf, "PyFrame_GetLineNumber") &&
               get(attribute, "PyObject_GetAttrString") && get(text, "PyUnicode_AsUTF8") &&
               get(fetchError, "PyErr_Fetch") && get(restoreError, "PyErr_Restore") && get(clearError, "PyErr_Clear") &&
               get(retain, "Py_IncRef") && get(drop, "Py_DecRef");
    }
    [[nodiscard]] bool isHeld() const
    {
        void* own = ownState();
        return own != nullptr && own == activeState();
    }
};

Interpreter python;

// ---- which files are the user's; the same rule as sites.py's ----

class UserFiles {
public:
    /// @param folders  of libraries, ending in '/', separated by line breaks; the last one is that of the hooks
    void setLibraries(std::string_view folders)
    {
        m_libraries.clear();
        while (!folders.empty()) {
            const std::size_t end = std::min(folders.find('\n'), folders.size());
            m_libraries.emplace_back(folders.substr(0, end));
            folders.remove_prefix(std::min(end + 1, folders.size()));
        }
    }
    [[nodiscard]] bool contains(std::string_view name) const
    {
        if (name.starts_with('<'))
            return name == "<stdin>" || name.starts_with("<ipython");
        const auto isIn = [](std::string_view path, std::string_view folder) { return path.starts_with(folder); };
        for (const char* folder : {"/site-packages/", "/dist-packages/"})
            if (('/' + std::string(name)).find(folder) != std::string::npos)
                return false;
        if (std::any_of(m_libraries.begin(), m_libraries.end(), [&](const auto& each) { return isIn(name, each); }))
            return false;
        const std::unique_ptr<char, decltype(&std::free)> real(realpath(std::string(name).c_str(), nullptr), std::free);
        return !real || m_libraries.empty() || !isIn(real.get(), m_libraries.back());
    }

private:
    std::vector<std::string> m_libraries;
};

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
    /// What was allocated before does not count.
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

using Place = std::pair<Object*, int>; // code and line
struct PlaceHash {
    std::size_t operator()(const Place& place) const
    {
        return std::hash<Object*>()(place.first) * 31 + static_cast<std::size_t>(place.second);
    }
};

/// Attributes what is allocated from the start of one operator of the training thread to the start of the next one to
/// the user's line that called the first one. Allocations of autograd's threads count for the line that started the
/// backward pass.
class ByLine {
public:
    UserFiles files;

    void clear()
    {
        m_lines.clear();
        m_current = nullptr;
        m_before = readTotal();
    }
    /// Attributes what was allocated since the last call. @param place  without code: outside of the user's files
    void moveTo(const Place& place)
    {
        const Allocations now = readTotal();
        if (m_current) {
            m_current->bytes += now.bytes - m_before.bytes;
            m_current->count += now.count - m_before.count;
        }
        m_before = now;
        m_current = place.first ? &m_lines[place] : nullptr;
    }
    /// The totals so far, without the current line's last part, which follows with the next operator.
    [[nodiscard]] std::vector<std::pair<Place, Allocations>> totals() const { return {m_lines.begin(), m_lines.end()}; }
    /// Whether a code object is of a user's file, if that is known.
    [[nodiscard]] const bool* known(Object* code) const
    {
        const auto found = m_isUsers.find(code);
        return found == m_isUsers.end() ? nullptr : &found->second;
    }
    /// @param code  which must stay alive, so that its address is not reused
    void learn(Object* code, bool isUsers) { m_isUsers.emplace(code, isUsers); }

private:
    std::unordered_map<Place, Allocations, PlaceHash> m_lines;
    std::unordered_map<Object*, bool> m_isUsers;
    Allocations* m_current = nullptr;
    Allocations m_before;
};

ByLine& byLine()
{
    static auto* s_lines = new ByLine; // the training thread may outlive the library's variables
    return *s_lines;
}

constexpr int kMostDepth = 150; ///< as in lines.py

/// With the interpreter held.
bool isOfUser(Object* code)
{
    {
        const std::lock_guard lock(mutex);
        if (const bool* known = byLine().known(code))
            return *known;
    }
    std::array<Object*, 3> error{};
    python.fetchError(&error[0], &error[1], &error[2]); // the program may be handling one
    bool isUsers = false;
    if (Object* name = python.attribute(code, "co_filename")) {
        const char* text = python.text(name);
        isUsers = text && byLine().files.contains(text);
        python.drop(name);
    }
    python.clearError();
    python.restoreError(error[0], error[1], error[2]);
    python.retain(code);
    const std::lock_guard lock(mutex);
    byLine().learn(code, isUsers);
    return isUsers;
}

/// The innermost user line of the calling thread, with the interpreter held.
Place currentPlace()
{
    Object* frame = python.currentFrame();
    if (frame)
        python.retain(frame);
    Place place{};
    for (int depth = 0; frame && depth < kMostDepth && !place.first; ++depth) {
        Object* code = python.codeOf(frame);
        if (isOfUser(code))
            place = {code, python.lineOf(frame)};
        python.drop(code);
        Object* outer = place.first ? nullptr : python.caller(frame);
        python.drop(frame);
        frame = outer;
    }
    if (frame)
        python.drop(frame);
    return place;
}

void moveToCurrentPlace()
{
    const Place place = currentPlace();
    const std::lock_guard lock(mutex);
    byLine().moveTo(place);
}

const at::RecordFunction* outermost = nullptr; // the training thread's outermost operator

/// An allocation outside of any operator, for example of an UntypedStorage.
void beforeAllocation()
{
    if (!outermost && python.isHeld())
        moveToCurrentPlace();
}

std::unique_ptr<at::ObserverContext> opBegins(const at::RecordFunction& function)
{
    if (!isTrainingThread() || outermost)
        return nullptr;
    outermost = &function;
    const int state = python.ensure();
    moveToCurrentPlace();
    python.release(state);
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

/// Counts the allocations of the calling thread, which is the training thread, from now on.
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
    return 1;
}

/// Counts the process's allocations on GPUs, too. The program has initialized them.
STEPSCOPE_EXPORT void stepscope_allocations_of_devices(void)
{
    const std::lock_guard lock(mutex);
    devices.start();
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
    if (!isTrainingThread() || !python.find())
        return 0;
    {
        const std::lock_guard lock(mutex);
        byLine().files.setLibraries(libraries);
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
    std::vector<std::pair<Place, Allocations>> lines;
    {
        const std::lock_guard lock(mutex);
        lines = byLine().totals();
    }
    for (const auto& [place, allocated] : lines)
        take(place.first, place.second, allocated.bytes, allocated.count);
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
