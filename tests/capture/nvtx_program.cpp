#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <string>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

/// A program that uses NVTX and knows nothing about Stepscope, for recording by tests. Its argument selects what it
/// does.

namespace {

nvtxEventAttributes_t attributesOf(const char* text)
{
    nvtxEventAttributes_t attributes{};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
    attributes.message.ascii = text;
    return attributes;
}

void pushAndPop()
{
    char text[] = "outer"; // later, this address contains a different text
    std::printf("level %d\n", nvtxRangePushA(text));
    std::strcpy(text, "inner");
    std::printf("level %d\n", nvtxRangePushA(text));
    std::printf("level %d\n", nvtxRangePop());
    nvtxRangePushW(L"wide ü");
    nvtxRangePop();
    std::printf("level %d\n", nvtxRangePop());
    nvtxMarkA("here");
    nvtxRangePop(); // one pop too many
}

void attributes()
{
    nvtxNameCategoryA(7, "io");
    nvtxEventAttributes_t event = attributesOf("read");
    event.category = 7;
    event.colorType = NVTX_COLOR_ARGB;
    event.color = 0xFFFF8800;
    event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
    event.payload.llValue = -42;
    nvtxRangePushEx(&event);
    nvtxRangePop();
    event.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
    event.payload.dValue = 0.125;
    nvtxMarkEx(&event);
    event.size = 8; // size in an older program: has a category, but no colour, payload or message
    nvtxMarkEx(&event);
    nvtxMarkEx(nullptr);
}

void domains()
{
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
    const nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "registered");
    nvtxEventAttributes_t event = attributesOf("text");
    nvtxRangePushA("program");
    nvtxDomainRangePushEx(domain, &event);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = name;
    nvtxDomainRangePushEx(domain, &event);
    nvtxRangePop(); // ends the program's range while the library's ranges are open
    nvtxDomainRangePop(domain);
    nvtxDomainRangePop(domain);
    nvtxDomainMarkEx(domain, &event);
    nvtxDomainDestroy(domain);
}

void startAndEnd()
{
    const nvtxRangeId_t first = nvtxRangeStartA("first");
    nvtxRangeId_t second = 0;
    std::thread([&] {
        second = nvtxRangeStartA("second");
        nvtxRangeEnd(first);
    }).join();
    nvtxRangeEnd(second);
    nvtxRangeEnd(second); // has already ended
    nvtxRangeStartA("left open");
}

void threads()
{
    const auto work = [](const char* name) {
        nvtxNameOsThreadA(static_cast<unsigned>(gettid()), name);
        for (int i = 0; i < 1000; ++i) {
            nvtxRangePushA("work");
            nvtxRangePop();
        }
    };
    std::thread(work, "one").join();
    std::thread(work, "two").join();
}

/// Threads start and end, each with a range in a domain, while the program ends.
void crowd()
{
    const nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
    const auto work = [domain] {
        const nvtxEventAttributes_t event = attributesOf("work");
        nvtxDomainRangePushEx(domain, &event);
        nvtxDomainRangePop(domain);
    };
    for (int i = 0; i < 4; ++i)
        std::thread([work] {
            for (;;)
                std::thread(work).join();
        }).detach();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

void burst()
{
    for (int i = 0; i < 3'000'000; ++i) {
        nvtxRangePushA("burst");
        nvtxRangePop();
    }
}

/// @param rounds  of 300 ranges, a millisecond apart, so that the rings are emptied in between
void steadily(int rounds)
{
    for (int round = 0; round < rounds; ++round) {
        for (int i = 0; i < 300; ++i) {
            nvtxRangePushA("steady");
            nvtxRangePop();
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::printf("all rounds are done\n");
}

/// @param ranges  number of ranges, which take a tenth of a second each
void slowly(int ranges)
{
    nvtxRangePushA("outer");
    for (int i = 0; i < ranges; ++i) {
        nvtxRangePushA("inner");
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        nvtxRangePop();
    }
    nvtxRangePop();
}

void forkAChild()
{
    nvtxRangePushA("parent");
    const pid_t child = fork();
    if (child == 0) {
        nvtxRangePushA("child");
        nvtxRangePop();
        std::exit(0);
    }
    waitpid(child, nullptr, 0);
    if (fork() == 0)
        _exit(0); // a child that does nothing has no trace
    wait(nullptr);
    nvtxRangePop();
}

void endBadly(const std::string& how)
{
    nvtxRangePushA("before");
    nvtxRangePop();
    nvtxRangePushA("open");
    nvtxMarkA("last");
    if (how == "_exit")
        _exit(3);
    if (how == "crash")
        raise(SIGSEGV);
    if (how == "terminated")
        raise(SIGTERM);
    if (how == "interrupted")
        raise(SIGINT);
}

/// Memory runs out, and becomes available again, while ranges with new names are recorded.
void runOutOfMemory()
{
    nvtxRangePushA("before");
    nvtxRangePop();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::vector<void*> all(1 << 20);
    std::array<volatile char, 1 << 18> stack; // reserves the stack, which cannot grow later
    for (volatile char& byte : stack)
        byte = 1;
    constexpr rlimit kLeast{1, RLIM_INFINITY}; // limit of the address space: nothing more can be mapped
    setrlimit(RLIMIT_AS, &kLeast);
    std::size_t count = 0;
    for (std::size_t bytes = 1 << 20; bytes >= 16 && count < all.size(); count += all[count] != nullptr)
        if (!(all[count] = std::malloc(bytes)))
            bytes /= 2;
    char name[32];
    for (int i = 0; i < 20'000; ++i) {
        std::snprintf(name, sizeof name, "range %d", i);
        nvtxRangePushA(name);
        nvtxRangePop();
    }
    constexpr rlimit kAny{RLIM_INFINITY, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &kAny);
    for (std::size_t i = 0; i < count; ++i)
        std::free(all[i]);
    std::printf("the program continues\n");
}

/// Does what the CUDA driver does when a program initializes it.
void initialiseCuda()
{
    void* const library = dlopen(std::getenv("NVTX_INJECTION64_PATH"), RTLD_NOW);
    if (!library)
        return;
    reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))();
    nvtxRangePushA("after CUDA");
    nvtxRangePop();
}

} // namespace

int main(int count, char** arguments)
{
    const std::string what = count > 1 ? arguments[1] : "";
    if (what == "ranges")
        pushAndPop();
    else if (what == "attributes")
        attributes();
    else if (what == "domains")
        domains();
    else if (what == "start")
        startAndEnd();
    else if (what == "threads")
        threads();
    else if (what == "crowd")
        crowd();
    else if (what == "burst")
        burst();
    else if (what == "steadily")
        steadily(count > 2 ? std::atoi(arguments[2]) : 1);
    else if (what == "slowly")
        slowly(count > 2 ? std::atoi(arguments[2]) : 1);
    else if (what == "memory")
        runOutOfMemory();
    else if (what == "cuda")
        initialiseCuda();
    else if (what == "fork")
        forkAChild();
    else
        endBadly(what);
    return 0;
}
