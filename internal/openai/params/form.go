package params

import (
	"errors"

	"github.com/gatehouse-proxy/gatehouse/internal/apierror"
	"github.com/gatehouse-proxy/gatehouse/internal/form"
	"github.com/gatehouse-proxy/gatehouse/internal/jsonscan"
)

// Form is a request that came as a multipart form. Its view as JSON is what is judged and edited.
type Form struct {
	*form.Form
	View []byte
}

// ReadForm reads a request that came as a form, nil if it has another media type. Scalars are its fields
// that are a number or a boolean, files those that may be files. The error is a [*apierror.Error] with
// status 400.
func ReadForm(data []byte, contentType string, scalars, files []string) (*Form, error) {
	if !form.Is(contentType) {
		return nil, nil
	}
	f, err := form.Parse(data, contentType, files...)
	if err != nil {
		return nil, wrongForm(err)
	}
	return &Form{f, f.JSON(scalars...)}, nil
}

// Encode returns the form with the edits of its view. The error is a 400.
func (f *Form) Encode(b *jsonscan.Body) ([][]byte, error) {
	pieces, err := f.Segments(b.Append(nil))
	if err != nil {
		return nil, wrongForm(err)
	}
	return pieces, nil
}

func wrongForm(err error) *apierror.Error {
	e := apierror.New(apierror.InvalidValue, "the form in the request body is not acceptable: %v", err)
	var named *form.FileNameError
	if errors.As(err, &named) {
		e.Param = named.Field
	}
	return e
}
