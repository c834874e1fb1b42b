/* No plug-in of lscm: it has another symbol. */
int lscm_no_plugin(void);

int lscm_no_plugin(void)
{
    return 0;
}
