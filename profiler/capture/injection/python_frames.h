#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

/// Frames of the Python interpreter that the process runs, and which of them are the user's. Without Python's headers,
/// because one library serves all of its versions. Header-only: the library with LibTorch's callbacks
/// (trainer/hooks/python_allocations.cpp) links nothing of the profiler.
namespace profiler::capture::injection {

/// An object of Python: a frame or a code object.
struct PythonObject;

/// Functions of Python's C interface, unchanged since Python 3.9. They execute no Python code.
struct PythonInterpreter {
    int (*ensure)() = nullptr;
    void (*release)(int) = nullptr;
    void* (*ownState)() = nullptr;
    void* (*activeState)() = nullptr;
    PythonObject* (*currentFrame)() = nullptr; ///< borrowed
    PythonObject* (*caller)(PythonObject* frame) = nullptr;
    PythonObject* (*codeOf)(PythonObject* frame) = nullptr;
    int (*lineOf)(PythonObject* frame) = nullptr;
    PythonObject* (*attribute)(PythonObject*, const char*) = nullptr;
    const char* (*text)(PythonObject*) = nullptr;
    void (*fetchError)(PythonObject**, PythonObject**, PythonObject**) = nullptr;
    void (*restoreError)(PythonObject*, PythonObject*, PythonObject*) = nullptr;
    void (*clearError)() = nullptr;
    void (*retain)(PythonObject*) = nullptr;
    void (*drop)(PythonObject*) = nullptr;
    /// Calls a function on the main thread between two instructions of the interpreter; from any thread, without the
    /// GIL.
    int (*addPendingCall)(int (*)(void*), void*) = nullptr;

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
               get(retain, "Py_IncRef") && get(drop, "Py_DecRef") && get(addPendingCall, "Py_AddPendingCall");
    }
    /// Whether the calling thread holds the GIL.
    [[nodiscard]] bool isHeld() const
    {
        void* own = ownState();
        return own != nullptr && own == activeState();
    }
};

/// Which files are the user's; the same rule as sites.py's.
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

/// A line of a user's file: its code object, which stays alive, and its number. Without code: outside the user's files.
struct PythonPlace {
    PythonObject* code = nullptr;
    int line = 0;
    friend bool operator==(const PythonPlace&, const PythonPlace&) = default;
};
struct PythonPlaceHash {
    std::size_t operator()(const PythonPlace& place) const
    {
        return std::hash<PythonObject*>()(place.code) * 31 + static_cast<std::size_t>(place.line);
    }
};

/// The user's frames among those of a thread. All functions are called with the GIL held.
class UserFrames {
public:
    static constexpr int kMostDepth = 150; ///< frames that are examined

    /// @return false if the process has no interpreter whose frames can be read
    bool find(const char* libraries)
    {
        if (!m_python.find())
            return false;
        const std::lock_guard lock(m_mutex);
        m_files.setLibraries(libraries ? libraries : "");
        return true;
    }
    [[nodiscard]] const PythonInterpreter& python() const { return m_python; }

    /// Calls `take` with the places of the frame and its callers that are the user's, innermost first, until it returns
    /// false. @param frame  may be null
    template <class Take>
    void walk(PythonObject* frame, Take&& take)
    {
        if (frame)
            m_python.retain(frame);
        for (int depth = 0; frame && depth < kMostDepth; ++depth) {
            PythonObject* code = m_python.codeOf(frame);
            const bool goesOn = !isOfUser(code) || take(PythonPlace{code, m_python.lineOf(frame)});
            m_python.drop(code);
            PythonObject* outer = goesOn ? m_python.caller(frame) : nullptr;
            m_python.drop(frame);
            frame = outer;
        }
        if (frame)
            m_python.drop(frame);
    }

private:
    bool isOfUser(PythonObject* code)
    {
        {
            const std::lock_guard lock(m_mutex);
            if (const auto known = m_isUsers.find(code); known != m_isUsers.end())
                return known->second;
        }
        std::array<PythonObject*, 3> error{};
        m_python.fetchError(&error[0], &error[1], &error[2]); // the program may be handling one
        bool isUsers = false;
        if (PythonObject* name = m_python.attribute(code, "co_filename")) {
            const char* text = m_python.text(name);
            isUsers = text && m_files.contains(text);
            m_python.drop(name);
        }
        m_python.clearError();
        m_python.restoreError(error[0], error[1], error[2]);
        m_python.retain(code); // so that its address is not reused
        const std::lock_guard lock(m_mutex);
        m_isUsers.emplace(code, isUsers);
        return isUsers;
    }

    PythonInterpreter m_python;
    std::mutex m_mutex; ///< of an interpreter without a GIL
    UserFiles m_files;
    std::unordered_map<PythonObject*, bool> m_isUsers;
};

} // namespace profiler::capture::injection
