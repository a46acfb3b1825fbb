#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace profiler::os {

/// A shared library that this process has loaded at run time. It is never unloaded: functions of it may be in use.
/// Thread-safe.
class Library {
public:
    enum class Binding {
        Lazy, ///< a missing function is noticed when it is called
        Now   ///< a missing function is an error of open()
    };
    enum class Scope {
        Own,   ///< libraries loaded later do not find its symbols
        Global ///< they do
    };
    Library() = default;
    /// @param name  a path, or a file name that is searched for in the folders of the system and of this program
    /// @return an empty object if it cannot be loaded; lastError() says why
    static Library open(const char* name, Binding binding, Scope scope = Scope::Own);
    /// A library that the process has loaded already; an empty object if it has not.
    static Library loaded(const char* name);
    explicit operator bool() const { return m_handle != nullptr; }

    /// A function; nullptr if there is none of this name.
    template <class Function>
    [[nodiscard]] Function* function(const char* name) const
    {
        return reinterpret_cast<Function*>(symbol(name));
    }
    /// Why this thread's last open() failed.
    static std::string lastError();

private:
    explicit Library(void* handle) : m_handle(handle) {}
    [[nodiscard]] void* symbol(const char* name) const;
    void* m_handle = nullptr;
};

/// The folder of a library that the process has loaded; empty if it has not.
/// @param fileName  "libtorch_cpu.so"
std::filesystem::path folderOfLoadedLibrary(const std::string& fileName);

/// The libraries that this process has loaded, by the names under which they were found.
std::vector<std::filesystem::path> loadedLibraries();

} // namespace profiler::os
