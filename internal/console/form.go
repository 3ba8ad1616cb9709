package console

import (
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"slices"
)

// maxForm bounds what a form sends, in bytes.
const maxForm = 64 << 10

// form is what a person has filled in, and what was wrong with it. The zero value is an empty one.
type form struct {
	Values url.Values
	Failed *Failure
}

// readForm reads the form of a visit.
func readForm(v *visit) (form, error) {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return form{}, &Failure{Status: http.StatusBadRequest, Code: "invalid_value", Message: "the form could not be read"}
	}
	return form{Values: v.r.PostForm}, nil
}

// refused keeps the refusal of a public route, to be shown in the form. It returns any other error.
func (f *form) refused(err error) error {
	if errors.As(err, &f.Failed) {
		return nil
	}
	return err
}

// Value is the value of a field.
func (f form) Value(field string) string { return f.Values.Get(field) }

// Has reports whether a value of a field was chosen.
func (f form) Has(field, value string) bool { return slices.Contains(f.Values[field], value) }

// Wrong is what the gateway says of a field, "" if nothing.
func (f form) Wrong(field string) string {
	if f.Failed == nil || f.Failed.Param != field {
		return ""
	}
	return f.Failed.Message
}

// Mark is for the input of a field: it leads a screen reader to what is wrong, and to the hint.
func (f form) Mark(field string) template.HTMLAttr {
	mark := ` aria-describedby="` + field + `-hint"`
	if f.Wrong(field) != "" {
		mark = ` aria-invalid="true" aria-describedby="` + field + `-wrong ` + field + `-hint"`
	}
	return template.HTMLAttr(mark) //nolint:gosec // the names of fields are the templates'
}

// Elsewhere is what is wrong with none of these fields, nil if nothing is.
func (f form) Elsewhere(fields ...string) *Failure {
	if f.Failed == nil || slices.Contains(fields, f.Failed.Param) {
		return nil
	}
	return f.Failed
}

// showForm shows a page with a form again, with the status of its refusal.
func showForm(v *visit, f *form, name string, data any) error {
	if f.Failed == nil {
		return v.render(name, data)
	}
	return v.show(f.Failed.Status, name, data)
}

// confirmation asks before something is lost. It is a page of its own, so that it needs no script.
type confirmation struct {
	Title  string
	Text   string
	Lost   []string // what is lost, each a sentence
	Stays  string   // what stays, "" for nothing worth saying
	Button string
	Back   string // the page that is shown instead
	Failed *Failure
}

// loss is a change by which something is lost. Its page asks first: the form there is sent to the same
// path.
type loss struct {
	method string
	route  func(*visit) string // the public route that does it
	body   any
	ask    func(*visit) (confirmation, error)
	after  func(*visit) string // the page after it
	done   string              // a row of notices
}

// serve asks, or does what was asked.
func (l loss) serve(v *visit) error {
	var f form
	if v.r.Method == http.MethodPost {
		if err := f.refused(v.send(l.method, l.route(v), l.body, nil)); err != nil {
			return err
		}
		if f.Failed == nil {
			return v.redirect(l.after(v), l.done)
		}
	}
	c, err := l.ask(v)
	if err != nil {
		return err
	}
	c.Failed = f.Failed
	titled(v, c.Title)
	return showForm(v, &f, "confirm", c)
}

// pageAt is the page with a path below Prefix.
func pageAt(path string) func(*visit) string { return func(*visit) string { return Prefix + path } }

// titled gives the page of a visit another title.
func titled(v *visit, title string) {
	p := *v.page
	p.title = title
	v.page = &p
}

// short12 is the beginning of a hash, as tables show it.
func short12(hash string) string {
	const shown = 12
	if len(hash) > shown {
		return hash[:shown] + "…"
	}
	return hash
}
