#pragma once

#include "trainer/data/dataset.h"

#include <cstdint>
#include <vector>

namespace trainer::data {

/// Which rows of a set train and which validate.
struct RowSplit {
    std::vector<std::int64_t> train, validation;
    [[nodiscard]] const std::vector<std::int64_t>& of(Split split) const
    {
        return split == Split::Train ? train : validation;
    }
};

/// Deals `rows` out at random, in the same way on every machine. At least one row trains.
/// @param share  of the validation, 0 … 1
RowSplit splitRows(std::int64_t rows, double share);

} // namespace trainer::data
