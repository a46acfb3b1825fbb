#include "tests/capture/temporary_folder.h"

#include <cstdlib>
#include <iterator>
#include <stdexcept>
#include <string>

namespace capture_test {

TemporaryFolder::TemporaryFolder()
{
    std::string name = (std::filesystem::temp_directory_path() / "stepscope-capture-XXXXXX").string();
    if (!mkdtemp(name.data()))
        throw std::runtime_error("cannot create a temporary folder at " + name);
    m_path = name;
}

TemporaryFolder::~TemporaryFolder()
{
    std::error_code ignored;
    std::filesystem::permissions(m_path, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(m_path, ignored);
}

std::size_t TemporaryFolder::files() const
{
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(m_path), {}));
}

} // namespace capture_test
