// Package form reads multipart forms (RFC 7578) that are held whole, and edits them without copying
// their files.
//
// A gateway has to know the text fields of a form (model, prompt) and has to pass the files on as they
// came. So a form is scanned once for where its parts are:
//
//	f, err := form.Parse(body, contentType, "file") // the fields that may be files
//	view := f.JSON("n", "stream")   // its text fields as a JSON object
//	…                               // which is judged and edited as any request
//	pieces, err := f.Segments(edited) // the form, with the fields that changed
//
// The header of a part is written anew, with what is known of it alone: its field, the extension of its
// file name and its media type. Nobody judges the rest, so it does not pass.
//
// What two parsers could read differently is refused: a way around every rule would hide in it.
package form

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxParts is how many parts a form may have: 16 pictures, and several times the fields that APIs
	// name.
	MaxParts = 128
	// MaxHeader bounds the header of a part, in bytes. Names of files are most of it.
	MaxHeader = 4 << 10
	// MaxText bounds the text fields together, in bytes: the longest prompt has 32,000 characters.
	MaxText = 1 << 20
	// maxExtension bounds the extension of a file name, in bytes.
	maxExtension = 8
	// maxBoundary is that of RFC 2046.
	maxBoundary = 70
	// maxName bounds the name of a field, in bytes.
	maxName = 100
)

// Part is a field of a form.
type Part struct {
	Name        string
	File        bool   // it has the name of a file, which may be empty
	Extension   string // of the file name, without its dot; "" if it has none that is used
	ContentType string // the media type without parameters, "" for none that is used
	Start, End  int    // of the value in the body
}

// Form is a form that was scanned. It refers to the body, which must not change before the result of
// Segments is used.
type Form struct {
	data     []byte
	boundary string
	parts    []Part
}

// Is reports whether the media type of a request is that of a form.
func Is(contentType string) bool {
	media, _, _ := mime.ParseMediaType(contentType)
	return media == mediaType
}

const mediaType = "multipart/form-data"

// Parts returns the parts in their order.
func (f *Form) Parts() []Part { return f.parts }

// Value returns the value of a part.
func (f *Form) Value(p *Part) []byte { return f.data[p.Start:p.End:p.End] }

// ContentType returns the media type of the form, with its boundary.
func (f *Form) ContentType() string {
	return mime.FormatMediaType(mediaType, map[string]string{"boundary": f.boundary})
}

var (
	errBoundary  = errors.New("the Content-Type has no usable boundary")
	errBroken    = errors.New("a boundary is broken")
	errCut       = errors.New("it is cut off")
	errOutside   = errors.New("there is text outside the parts")
	errHeader    = errors.New("the header of a part is broken or too long")
	errName      = errors.New("a part has no usable name")
	errEncoding  = errors.New("a part has an encoding: send it as it is")
	errText      = errors.New("a text is not UTF-8")
	errMediaType = errors.New("the Content-Type of a part is not a media type")
	errTooMany   = fmt.Errorf("it has more than %d parts", MaxParts)
	errQuote     = errors.New("a file name has a quoted quote: leave it out")
	errLongTexts = fmt.Errorf("its texts have more than %d bytes; files need a file name", MaxText)
)

var lineEnd = []byte("\r\n")

// FileNameError says that a field that must be a text has the name of a file, which may be empty. A
// provider could read it as a text all the same.
type FileNameError struct{ Field string }

func (e *FileNameError) Error() string {
	return fmt.Sprintf("the field %q is a text: send it without a file name", e.Field)
}

// Parse scans a form. Only the files may have the name of a file. The error says what is wrong with it.
func Parse(data []byte, contentType string, files ...string) (*Form, error) {
	_, params, err := mime.ParseMediaType(contentType)
	f := &Form{data: data, boundary: params["boundary"]}
	if b := f.boundary; err != nil || b == "" || len(b) > maxBoundary || strings.IndexFunc(b, notBoundary) >= 0 || b[len(b)-1] == ' ' {
		return nil, errBoundary
	}
	delimiter := []byte("--" + f.boundary)
	if !bytes.HasPrefix(data, delimiter) {
		return nil, errOutside
	}
	text := 0
	for at := 0; ; { // at a delimiter
		at += len(delimiter)
		rest := data[at:]
		if after, end := bytes.CutPrefix(rest, []byte("--")); end {
			if len(after) > 0 && !bytes.Equal(after, lineEnd) {
				return nil, errOutside
			}
			return f, nil
		}
		if !bytes.HasPrefix(rest, lineEnd) {
			if len(rest) < len(lineEnd) {
				return nil, errCut
			}
			return nil, errBroken
		}
		size := bytes.Index(rest[:min(len(rest), MaxHeader)], []byte("\r\n\r\n"))
		if size < 0 {
			return nil, errHeader
		}
		header := rest[len(lineEnd) : size+len(lineEnd)]
		if bytes.Contains(header, delimiter) {
			return nil, errBroken
		}
		part, err := parseHeader(string(header))
		if err != nil {
			return nil, err
		}
		part.Start = at + size + 2*len(lineEnd)
		length := bytes.Index(data[part.Start:], delimiter)
		if length < 0 {
			return nil, errCut
		}
		at = part.Start + length
		if part.End = at - len(lineEnd); part.End < part.Start || !bytes.Equal(data[part.End:at], lineEnd) {
			return nil, errBroken
		}
		if part.File {
			if !slices.Contains(files, part.Name) {
				return nil, &FileNameError{part.Name}
			}
		} else {
			if text += part.End - part.Start; text > MaxText {
				return nil, errLongTexts
			}
			if !utf8.Valid(data[part.Start:part.End]) {
				return nil, errText
			}
		}
		if f.parts = append(f.parts, part); len(f.parts) > MaxParts {
			return nil, errTooMany
		}
	}
}

// parseHeader reads the lines of a header, each with its end.
func parseHeader(header string) (p Part, err error) {
	seen, contentType := map[string]bool{}, ""
	for line := range strings.SplitSeq(strings.TrimSuffix(header, "\r\n"), "\r\n") {
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.ToLower(key), strings.TrimSpace(value)
		if !ok || key == "" || strings.IndexFunc(key, notKey) >= 0 || strings.ContainsFunc(line, unicode.IsControl) || seen[key] {
			return p, errHeader
		}
		seen[key] = true
		switch key {
		case "content-disposition":
			if err := p.disposition(value); err != nil {
				return p, err
			}
		case "content-type":
			contentType = value
		case "content-transfer-encoding":
			if !strings.EqualFold(value, "binary") && !strings.EqualFold(value, "8bit") && !strings.EqualFold(value, "7bit") {
				return p, errEncoding
			}
		}
	}
	if p.Name == "" {
		return p, errName
	}
	if contentType == "" {
		return p, nil
	}
	media, params, err := mime.ParseMediaType(contentType)
	switch {
	case err != nil || len(media) > maxName || !mediaForm.MatchString(media):
		return p, errMediaType
	case !p.File && params["charset"] != "" && !strings.EqualFold(params["charset"], "utf-8"):
		return p, errText
	}
	p.ContentType = media
	return p, nil
}

// mediaForm is that of the media types in use (RFC 6838), in lower case.
var mediaForm = regexp.MustCompile(`^[a-z0-9-]+/[a-z0-9]+([.+-][a-z0-9]+)*$`)

func (p *Part) disposition(value string) error {
	media, params, err := mime.ParseMediaType(value)
	if err != nil || media != "form-data" {
		return errHeader
	}
	p.Name = params["name"]
	p.Extension = extension(params["filename"])
	// Parsers differ in quotes, escapes and other alphabets: a name has none.
	quoted := strings.Contains(value, `name="`+p.Name+`"`) || strings.Contains(value, "name="+p.Name)
	if p.Name == "" || p.Name == "_charset_" || len(p.Name) > maxName || strings.IndexFunc(p.Name, notName) >= 0 || !quoted ||
		strings.Contains(strings.ReplaceAll(strings.ToLower(value), "filename*", ""), "name*") {
		return errName
	}
	if strings.Contains(value, `\"`) { // it ends the text for some parsers
		return errQuote
	}
	// Whatever is like the name of a file is one, also in a form that the package mime drops.
	p.File = strings.Count(strings.ToLower(value), "filename") > strings.Count(strings.ToLower(p.Name), "filename")
	return nil
}

// extension returns the extension of the name of a file, by which providers know formats. It is "" for
// one that is not a few ASCII letters and digits.
func extension(name string) string {
	dot := strings.LastIndexByte(name, '.')
	if after := name[dot+1:]; dot >= 0 && len(after) <= maxExtension && strings.IndexFunc(after, func(r rune) bool { return !isAlphanumeric(r) }) < 0 {
		return after
	}
	return ""
}

// appendHeader appends the delimiter and the header of a part.
func (f *Form) appendHeader(dst []byte, p *Part) []byte {
	dst = fmt.Appendf(dst, "--%s\r\nContent-Disposition: form-data; name=\"%s\"", f.boundary, p.Name)
	if p.File {
		dst = append(dst, `; filename="file`...)
		if p.Extension != "" {
			dst = append(append(dst, '.'), p.Extension...)
		}
		if dst = append(dst, '"'); p.ContentType != "" {
			dst = fmt.Appendf(dst, "\r\nContent-Type: %s", p.ContentType)
		}
	}
	return append(dst, "\r\n\r\n"...)
}

func notKey(r rune) bool { return !isAlphanumeric(r) && r != '-' }

func notName(r rune) bool {
	return !isAlphanumeric(r) && !strings.ContainsRune("_-.:[]", r)
}

// notBoundary is of RFC 2046.
func notBoundary(r rune) bool {
	return !isAlphanumeric(r) && !strings.ContainsRune("'()+_,-./:=? ", r)
}

func isAlphanumeric(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
}
