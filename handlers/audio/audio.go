package audio

import (
	"github.com/gatehouse-proxy/gatehouse/handlers"
	"github.com/gatehouse-proxy/gatehouse/internal/modelcall/wire"
)

// The APIs of sound.
func serveSpeech(x *handlers.Request) error         { return x.Call(wire.Speech) }
func serveTranscriptions(x *handlers.Request) error { return x.Call(wire.Transcriptions) }
func serveTranslations(x *handlers.Request) error   { return x.Call(wire.Translations) }
