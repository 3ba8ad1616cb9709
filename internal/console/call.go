package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"

	"github.com/gatehouse-proxy/gatehouse/internal/activity"
)

// maxAnswer bounds the answer of a public route to a page, in bytes. A page asks for at most a
// thousand rows, of about one KiB each.
const maxAnswer = 16 << 20

// Failure is the refusal of a public route.
type Failure struct {
	Status  int
	Code    string // a machine code of the API
	Message string
	Param   string // which field it is about, or ""
	Details string // JSON that says more to programs, or ""
}

func (f *Failure) Error() string { return f.Message }

// isAbout reports whether an error is the refusal of a public route that is about a field.
func isAbout(err error, param string) bool {
	var failure *Failure
	return errors.As(err, &failure) && failure.Param == param
}

// title names the kind of a failure at the top of its page.
func (f *Failure) title() string {
	switch f.Status {
	case http.StatusForbidden:
		return "Not allowed"
	case http.StatusNotFound:
		return "Not found"
	case http.StatusServiceUnavailable:
		return "Not available now"
	}
	if f.Status < 500 {
		return "That did not work"
	}
	return "The gateway failed"
}

// get reads the answer of a public route into a value. The error is a *Failure if the route refuses.
func (v *visit) get(path string, query url.Values, into any) error {
	return v.call(http.MethodGet, withQuery(path, query), nil, nil, into)
}

// getOld is get of an answer that may be up to a minute old, if the route has one.
func (v *visit) getOld(path string, query url.Values, into any) error {
	return v.call(http.MethodGet, withQuery(path, query), http.Header{"Cache-Control": {"max-age=60"}}, nil, into)
}

func withQuery(path string, query url.Values) string {
	if len(query) == 0 {
		return path
	}
	return path + "?" + query.Encode()
}

// send changes something by a public route. Body is JSON, nil for none; into may be nil.
func (v *visit) send(method, path string, body, into any) error {
	return v.call(method, path, nil, body, into)
}

// idempotencyHeader names a request that makes something.
const idempotencyHeader = "Idempotency-Key"

// sendOnce is send of a POST that makes something. A repeat with the same id makes it no second time.
func (v *visit) sendOnce(path, id string, body, into any) error {
	return v.call(http.MethodPost, path, http.Header{idempotencyHeader: {id}}, body, into)
}

// call asks a public route, with these header fields besides those that every request has.
func (v *visit) call(method, path string, header http.Header, body, into any) error {
	r, err := v.apiRequest(method, path, body)
	if err != nil {
		return err
	}
	maps.Copy(r.Header, header)
	var w answer
	v.console.config.API(v.caller).ServeHTTP(&w, r)
	v.until = cmp.Or(v.until, w.Header().Get(activity.UntilHeader))
	return w.read(r, into)
}

// read returns what the route has answered.
func (w *answer) read(r *http.Request, into any) error {
	switch {
	case w.over:
		return fmt.Errorf("%s %s: the answer has more than %d bytes", r.Method, r.URL.Path, maxAnswer)
	case w.status >= 300:
		return failureOf(w.status, w.body.Bytes())
	case into == nil || w.body.Len() == 0:
		return nil
	}
	if err := json.Unmarshal(w.body.Bytes(), into); err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, r.URL.Path, err)
	}
	return nil
}

// download answers the visit with the answer of a public route: a file to keep, or to show without a
// name. The error is a *Failure if the route refuses, and nothing is answered then.
func (v *visit) download(path string, query url.Values, name string) error {
	w := &file{ResponseWriter: v.w, name: name}
	r, err := v.apiRequest(http.MethodGet, withQuery(path, query), nil)
	if err != nil {
		return err
	}
	if tag := v.r.Header.Get("If-None-Match"); tag != "" {
		r.Header.Set("If-None-Match", tag)
	}
	v.console.config.API(v.caller).ServeHTTP(w, r)
	if w.refusal.status != 0 {
		return failureOf(w.refusal.status, w.refusal.body.Bytes())
	}
	return nil
}

// file passes the answer of a public route on, unless it is a refusal: a browser would save that as
// the file.
type file struct {
	http.ResponseWriter

	name    string
	begun   bool
	refusal answer
}

func (f *file) WriteHeader(status int) {
	f.begun = true
	if status >= 300 && status != http.StatusNotModified {
		f.refusal.WriteHeader(status)
		return
	}
	if f.name != "" {
		f.Header().Set("Content-Disposition", fmt.Sprintf("attachment; filename=%q", f.name))
	}
	f.ResponseWriter.WriteHeader(status)
}

func (f *file) Write(p []byte) (int, error) {
	if !f.begun {
		f.WriteHeader(http.StatusOK)
	}
	if f.refusal.status != 0 {
		return f.refusal.Write(p)
	}
	return f.ResponseWriter.Write(p)
}

// Unwrap lets the route set the time that it may take.
func (f *file) Unwrap() http.ResponseWriter { return f.ResponseWriter }

// apiRequest is a request to a public route; a body other than nil is sent as JSON. It has the visit's
// context and address, and none of its header fields: the cookie is the console's.
func (v *visit) apiRequest(method, path string, body any) (*http.Request, error) {
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	r, err := http.NewRequestWithContext(v.r.Context(), method, path, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	r.RemoteAddr, r.Host, r.RequestURI = v.r.RemoteAddr, v.r.Host, path
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	return r, nil
}

// answer is the answer of a public route, up to maxAnswer bytes of it.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
	over   bool // there was more
}

func (a *answer) Header() http.Header {
	if a.header == nil {
		a.header = make(http.Header)
	}
	return a.header
}

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.body.Len()+len(p) > maxAnswer {
		a.over = true
		return 0, io.ErrShortWrite
	}
	return a.body.Write(p)
}

// failureOf reads the refusal of a route, in the shape of either family.
func failureOf(status int, body []byte) error {
	var shape struct {
		Error struct {
			Message  string          `json:"message"`
			Param    string          `json:"param"`
			Code     any             `json:"code"`
			Details  json.RawMessage `json:"details"`
			Metadata struct {
				Type  string `json:"error_type"`
				Param string `json:"param"`
			} `json:"metadata"`
		} `json:"error"`
	}
	if err := json.Unmarshal(body, &shape); err != nil || shape.Error.Message == "" {
		return errors.Join(fmt.Errorf("a public route answered %d without a reason", status), err)
	}
	e := shape.Error
	failure := &Failure{Status: status, Message: e.Message, Param: e.Param + e.Metadata.Param, Code: e.Metadata.Type, Details: string(e.Details)}
	if code, ok := e.Code.(string); ok {
		failure.Code = code
	}
	return failure
}
