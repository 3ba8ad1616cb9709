package chatonconverse

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// Fields is the table of the fields of a request.
func Fields() translate.Fields { return fields }
