//! The parts of a receipt in each language, as the shop's people edit them.

/// The parts of a receipt, from its top to its bottom.
pub const PARTS: [&str; 4] = ["head", "items", "terms", "foot"];

/// The service's own flags.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Another template for the last part of an English receipt
    #[arg(long, value_name = "TEMPLATE")]
    pub foot: Option<String>,
}

/// A template for each part in each language, by its name.
pub type Templates = [(&'static str, &'static str); 12];

impl Options {
    /// The texts of today.
    pub fn templates(self) -> Templates {
        let mut templates = TEMPLATES;
        if let Some(foot) = self.foot {
            // Kept as long as the process, as the others are.
            let foot: &str = foot.leak();
            templates.iter_mut().filter(|it| it.0 == "en/foot").for_each(|it| it.1 = foot);
        }
        templates
    }
}

const TEMPLATES: Templates = [
    (
        "en/head",
        "Receipt {{ order.number }}\nfor {{ order.customer|upper }}\n{{ '-'|pad(32) }}\n\n",
    ),
    (
        "de/head",
        "Quittung {{ order.number }}\nfür {{ order.customer|upper }}\n{{ '-'|pad(32) }}\n\n",
    ),
    ("fr/head", "Reçu {{ order.number }}\npour {{ order.customer|upper }}\n{{ '-'|pad(32) }}\n\n"),
    (
        "en/items",
        "{% for item in order.items %}{{ item.count }} x {{ item.name }}\
         {% if item.count > 1 %} at {{ item.cents|money }}{% endif %}: {{ (item.count * item.cents)|money }}\n\
         {% else %}nothing\n{% endfor %}Total: {{ order.total|money }}\n\
         {% if order.total > 5000 %}Delivery is free.\n{% endif %}",
    ),
    (
        "de/items",
        "{% for item in order.items %}{{ item.count }} x {{ item.name }}\
         {% if item.count > 1 %} zu {{ item.cents|money }}{% endif %}: {{ (item.count * item.cents)|money }}\n\
         {% else %}nichts\n{% endfor %}Summe: {{ order.total|money }}\n\
         {% if order.total > 5000 %}Der Versand kostet nichts.\n{% endif %}",
    ),
    (
        "fr/items",
        "{% for item in order.items %}{{ item.count }} x {{ item.name }}\
         {% if item.count > 1 %} à {{ item.cents|money }}{% endif %} : {{ (item.count * item.cents)|money }}\n\
         {% else %}rien\n{% endfor %}Total : {{ order.total|money }}\n\
         {% if order.total > 5000 %}La livraison est gratuite.\n{% endif %}",
    ),
    (
        "en/terms",
        "{% if order.total > 20000 %}You can return this within 60 days, for a fee of {{ (order.total // 100)|money }}.\n\
         {% elif order.total > 10000 %}You can return this within 30 days, for a fee of {{ (order.total // 50)|money }}.\n\
         {% elif order.total > 1000 %}You can return this within 14 days, for a fee of {{ (order.total // 20)|money }}.\n{% endif %}\
         {% if order.items|length == 1 and order.items[0].cents > 2000 %}There is a warranty of two years on the {{ order.items[0].name|title }}.\n{% endif %}\
         {% if order.is_gift and order.total > 3000 %}We take gifts back for {{ (order.total // 2)|money }}.\n\
         {% elif order.is_gift %}To return a gift, show {{ order.number }}, {{ order.customer|title }}.\n{% endif %}",
    ),
    (
        "de/terms",
        "{% if order.total > 20000 %}Rückgabe binnen 60 Werktagen, gegen {{ (order.total // 100)|money }}.\n\
         {% elif order.total > 10000 %}Rückgabe binnen 30 Werktagen, gegen {{ (order.total // 50)|money }}.\n\
         {% elif order.total > 1000 %}Rückgabe binnen 14 Werktagen, gegen {{ (order.total // 20)|money }}.\n{% endif %}\
         {% if order.items|length == 1 and order.items[0].cents > 2000 %}Zwei Jahre Gewähr auf {{ order.items[0].name|title }}.\n{% endif %}\
         {% if order.is_gift and order.total > 3000 %}Geschenke nehmen wir zurück für {{ (order.total // 2)|money }}.\n\
         {% elif order.is_gift %}Zur Rückgabe bitte vorzeigen: {{ order.number }}, {{ order.customer|title }}.\n{% endif %}",
    ),
    (
        "fr/terms",
        "{% if order.total > 20000 %}Vous pouvez rendre ceci pendant 60 jours, pour {{ (order.total // 100)|money }}.\n\
         {% elif order.total > 10000 %}Vous pouvez rendre ceci pendant 30 jours, pour {{ (order.total // 50)|money }}.\n\
         {% elif order.total > 1000 %}Vous pouvez rendre ceci pendant 14 jours, pour {{ (order.total // 20)|money }}.\n{% endif %}\
         {% if order.items|length == 1 and order.items[0].cents > 2000 %}Deux ans de couverture pour {{ order.items[0].name|title }}.\n{% endif %}\
         {% if order.is_gift and order.total > 3000 %}Nous reprenons les cadeaux pour {{ (order.total // 2)|money }}.\n\
         {% elif order.is_gift %}Pour rendre un cadeau, montrez {{ order.number }}, {{ order.customer|title }}.\n{% endif %}",
    ),
    ("en/foot", "{% if order.is_gift %}With our compliments\n{% else %}Thank you\n{% endif %}"),
    ("de/foot", "{% if order.is_gift %}Mit besten Grüßen\n{% else %}Vielen Dank\n{% endif %}"),
    ("fr/foot", "{% if order.is_gift %}Avec nos compliments\n{% else %}Merci\n{% endif %}"),
];
