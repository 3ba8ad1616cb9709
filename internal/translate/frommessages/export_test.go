package frommessages

import "github.com/gatehouse-proxy/gatehouse/internal/translate"

// Fields is the table of request fields.
func Fields() map[string]translate.Disposition { return fields }

// MaxText is the bound of what is kept of an answer.
const MaxText = maxText
