// Handles the labels that a loop has by the symbol of its extent: Options::implicit_shape_labels
// makes them ordinary labels, otherwise they are dropped. Those of a statement over slices end with
// an empty label: the user did not write them, so some may be unused.
//
//     before  label "shape N"                  after  label "N"
//             for i in range(x.shape[0]):             for i in range(x.shape[0]):
//
// Before and after: kSurface. After: no label begins with kShapeLabel.
#pragma once

#include "passes/pass.h"

namespace parpy {

void normalize_labels(PassContext& context);

}  // namespace parpy
