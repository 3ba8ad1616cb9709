package provider

// azureKeys sends API keys as all addresses of Azure take them.
type azureKeys struct{ Dialect }

func (azureKeys) KeyField(key string) (name, value string) { return "Api-Key", key }
