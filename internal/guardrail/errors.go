package guardrail

import (
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/guardrail/document"
)

// ErrMalformed is returned for an answer, or an event of one, that is not a JSON object and so
// cannot be judged. It is the provider's mistake (502).
var ErrMalformed = errors.New("not a JSON object")

// DuplicateError says that an object of a request has a key twice. Then the provider could read
// another value than the one that was judged. It is the caller's mistake (400).
type DuplicateError = document.DuplicateError

// LimitError says that a body has more of something than is kept in memory to judge it. In a
// request it is the caller's mistake (413).
type LimitError = document.LimitError
