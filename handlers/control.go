package handlers

import (
	"bytes"
	"encoding/json"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// maxControlBody bounds the body of a request that is no model call, in bytes.
const maxControlBody = 64 << 10

// readOptions reads a body that may be missing: an object of which read takes
// each member. A name that read does not know is refused: it returns false.
func (x *exchange) readOptions(read func(name string, value []byte) (known bool, err error)) error {
	if x.r.ContentLength > maxControlBody {
		return apierror.New(apierror.RequestTooLarge, "the request body has %d bytes; at most %d are possible", x.r.ContentLength, maxControlBody)
	}
	body, err := x.call.ReadBody(x.w, x.r)
	switch {
	case err != nil:
		return err
	case len(body) > maxControlBody:
		return apierror.New(apierror.RequestTooLarge, "the request body has %d bytes; at most %d are possible", len(body), maxControlBody)
	case len(bytes.TrimSpace(body)) == 0:
		return nil
	}
	members, err := jsonscan.Strict(body, nil)
	if err != nil {
		return invalidJSON(err)
	}
	for _, m := range members {
		name := string(m.Key(body))
		known, err := read(name, m.Value(body))
		if err != nil {
			return err
		}
		if !known {
			return apierror.New(apierror.UnsupportedParameter, "unknown field %q", name).WithParam(name)
		}
	}
	return nil
}

// option reads one value, described by want; null leaves it as it is, and
// another type is refused.
func option[T any](name string, value []byte, dst *T, want string) (bool, error) {
	if jsonscan.IsNull(value) {
		return true, nil
	}
	if err := json.Unmarshal(value, dst); err != nil {
		return true, apierror.New(apierror.InvalidValue, "%s: want %s", name, want).WithParam(name)
	}
	return true, nil
}

// reply sends v as JSON.
func (x *exchange) reply(status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	x.call.Succeed(status)
	x.writeJSON(status, body)
	return nil
}
