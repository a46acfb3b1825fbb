#pragma once

#include "trainer/data/dataset.h"

#include <cstdint>
#include <vector>

namespace trainer::data {

/// The training rows and the validation rows of a dataset.
struct RowSplit {
    std::vector<std::int64_t> train, validation;
    [[nodiscard]] const std::vector<std::int64_t>& of(Split split) const
    {
        return split == Split::Train ? train : validation;
    }
};

/// Splits `rows` at random, in the same way on every machine. At least one row is for training.
/// @param share  of the validation, 0 … 1
RowSplit splitRows(std::int64_t rows, double share);

} // namespace trainer::data
