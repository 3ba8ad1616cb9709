package responsesonchat

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// Repeated is what every response object repeats of a request.
func (o *Original) Repeated() string { return string(o.repeated) }

// Fields is the table of request fields.
func Fields() map[string]translate.Disposition { return fields }
