package chatonmessages

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// Fields is the table of request fields.
func Fields() map[string]translate.Disposition { return fields }
