#include "profiler/os/libraries.h"

#include <dlfcn.h>
#include <link.h>
#include <utility>

namespace profiler::os {

Library Library::open(const char* name, Binding binding, Scope scope)
{
    return Library(::dlopen(name, (binding == Binding::Now ? RTLD_NOW : RTLD_LAZY) |
                                      (scope == Scope::Global ? RTLD_GLOBAL : RTLD_LOCAL)));
}

Library Library::loaded(const char* name)
{
    return Library(::dlopen(name, RTLD_NOLOAD | RTLD_LAZY));
}

std::string Library::lastError()
{
    const char* const why = ::dlerror();
    return why ? why : "";
}

void* Library::symbol(const char* name) const
{
    return m_handle ? ::dlsym(m_handle, name) : nullptr; // dlsym would search all libraries
}

std::filesystem::path folderOfLoadedLibrary(const std::string& fileName)
{
    std::pair<std::string, std::filesystem::path> search{fileName, {}};
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            auto& [wanted, folder] = *static_cast<std::pair<std::string, std::filesystem::path>*>(data);
            const std::filesystem::path path = info->dlpi_name;
            if (path.filename() != wanted)
                return 0;
            folder = path.parent_path();
            return 1;
        },
        &search);
    return std::move(search.second);
}

std::vector<std::filesystem::path> loadedLibraries()
{
    std::vector<std::filesystem::path> libraries;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* data) {
            if (info->dlpi_name && info->dlpi_name[0] == '/')
                static_cast<std::vector<std::filesystem::path>*>(data)->emplace_back(info->dlpi_name);
            return 0;
        },
        &libraries);
    return libraries;
}

} // namespace profiler::os
