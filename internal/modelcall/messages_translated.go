package modelcall

import "github.com/gatehouse-proxy/gatehouse/internal/apierror"

func encodeMessagesAsChat(e encoding) (*sending, error) {
	return nil, apierror.New(apierror.ModelNotCallable, "the model %q does not serve messages", e.asked.Model).WithParam("model")
}

func encodeMessagesAsResponses(e encoding) (*sending, error) { return encodeMessagesAsChat(e) }
